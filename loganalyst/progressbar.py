"""How far a long command is."""

import sys
import time
from typing import Protocol


class Outcome(Protocol):
    """What became of a run."""

    @property
    def what(self) -> str:
        """`judged`, or how its reading ended."""

    @property
    def points(self) -> int:
        """Those that were read."""


class Bar:
    """How far it is, on one line of a terminal's stderr; nothing elsewhere."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._began = time.monotonic()
        self._runs, self._points, self._total, self._reports = 0, 0, 0, 0

    def show(self, runs: int, points: int) -> None:
        """That many runs are done, which gave that many points."""
        self._write(f"{runs:,} runs, {points:,} points, {points / self._gone():,.0f} points/s")

    def outcome(self, outcome: Outcome, total: int | None) -> None:
        """One more run is read, or of `total` that are to be judged, judged; or one more report is written."""
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
        rate = self._runs / self._gone()
        left = (total - self._runs) / rate
        self._write(f"judged {self._runs:,} of {total:,} runs, {rate:,.1f}/s, {left // 60:.0f}:{left % 60:02.0f} left")

    def tell(self, what: str, done: int = 0, total: int = 0) -> None:
        """What is being done, and how many of how many steps of it."""
        steps = f": {done:,} of {total:,} steps" if total else ""
        self._write(f"{what}{steps}, {time.monotonic() - self._began:.0f} s")

    def _gone(self) -> float:
        return max(time.monotonic() - self._began, 0.001)

    def _write(self, line: str) -> None:
        if self._shown:
            print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Make room for other lines."""
        if self._shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
