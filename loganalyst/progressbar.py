"""The progress of a long command."""

import sys
import time
from typing import Protocol


class Outcome(Protocol):
    """The result for a run."""

    @property
    def what(self) -> str:
        """`judged`, `reported`, or how its reading ended."""

    @property
    def points(self) -> int:
        """The number of points that were read."""


class Bar:
    """Prints the progress on one line of stderr if that is a terminal."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._began = time.monotonic()
        self._runs, self._points, self._total, self._reports = 0, 0, 0, 0

    def show(self, runs: int, points: int) -> None:
        """Show the number of runs that are done, and of their points."""
        self._write(f"{runs:,} runs, {points:,} points, {points / self._elapsed():,.0f} points/s")

    def outcome(self, outcome: Outcome, total: int | None) -> None:
        """Count one more run: read, or judged of a `total`; or one more report that was written."""
        if not self._shown:
            return
        if outcome.what == "reported":
            self._reports += 1
            self._write(f"{self._reports:,} reports written")
            return
        if total is not None and total != self._total:
            self._runs, self._total, self._began = 0, total, time.monotonic()
        self._runs += 1
        self._points += outcome.points
        if total is None:
            self.show(self._runs, self._points)
            return
        rate = self._runs / self._elapsed()
        left = (total - self._runs) / rate
        self._write(f"judged {self._runs:,} of {total:,} runs, {rate:,.1f}/s, {left // 60:.0f}:{left % 60:02.0f} left")

    def show_phase(self, what: str, done: int = 0, total: int = 0) -> None:
        """Show what is being done, and how many of its steps are done."""
        steps = f": {done:,} of {total:,} steps" if total else ""
        self._write(f"{what}{steps}, {time.monotonic() - self._began:.0f} s")

    def _elapsed(self) -> float:
        return max(time.monotonic() - self._began, 0.001)

    def _write(self, line: str) -> None:
        if self._shown:
            print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Remove the line, so that other lines can follow."""
        if self._shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
