"""How far a long command is."""

import sys
import time


class Bar:
    """How far it is, on one line of a terminal's stderr; nothing elsewhere."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._began = time.monotonic()

    def show(self, runs: int, points: int) -> None:
        """That many runs are done, which gave that many points."""
        if self._shown:
            rate = points / max(time.monotonic() - self._began, 0.001)
            print(
                f"\r\033[K{runs:,} runs, {points:,} points, {rate:,.0f} points/s", end="", file=sys.stderr, flush=True
            )

    def clear(self) -> None:
        """Make room for other lines."""
        if self._shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
