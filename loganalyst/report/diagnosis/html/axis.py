"""Axes of a plot: values as shares of its width or height, and their ticks."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
ROUND = (1.0, 2.0, 2.5, 5.0, 10.0)  # ticks are multiples of one of these times a power of 10


@dataclass(frozen=True)
class Axis:
    """Values from `low` to `high` (low < high) along an axis."""

    low: float
    high: float
    log: bool = False

    def at(self, values: Floats) -> Floats:
        """Shares of the length: 0 at `low`, 1 at `high`, and beyond these for values outside."""
        if self.log:
            with np.errstate(all="ignore"):
                return np.asarray(np.log(values / self.low) / np.log(self.high / self.low))
        half = self.high / 2 - self.low / 2  # so that no difference overflows
        return np.asarray((values / 2 - self.low / 2) / half)

    def ticks(self, about: int) -> list[float]:
        """About so many round values on the axis.

        A logarithmic axis of two decades or more has powers of 10, a shorter one 1, 2, 5 and 10.
        """
        first, last = (np.log10(self.low), np.log10(self.high)) if self.log else (self.low, self.high)
        if self.log and last - first >= 2:
            each = max(int(np.ceil((last - first) / about)), 1)
            powers = np.arange(np.ceil(first - 1e-9), last + 1e-9)
            return [float(10.0**p) for p in powers[:: int(each)]]
        if self.log and last - first > 0.5:
            all_ticks = [digit * 10.0**p for p in range(int(np.floor(first)), int(last) + 1) for digit in (1, 2, 5)]
            return [t for t in all_ticks if self.low <= t <= self.high]
        span = self.high / about - self.low / about
        unit = 10.0 ** np.floor(np.log10(span))
        size = next(r for r in ROUND if r * unit >= span * 0.999) * unit
        count = np.arange(np.ceil(self.low / size), np.floor(self.high / size) + 1)[: 4 * about]
        return [float(t) + 0.0 for t in count * size]  # no -0


def fitted(values: Floats, *, log: bool, pad: float = 0.05) -> Axis:
    """The axis that shows all of these finite values with some margin. Equal values lie in the middle."""
    low, high = float(values.min()), float(values.max())
    if log:
        air = max((high / low) ** pad, 1.05)
        return Axis(max(low / air, 5e-324), min(high * air, 1.7e308), log=True)
    air = (high * pad - low * pad) or abs(high) * pad or 1.0
    return Axis(max(low - air, -1.7e308), min(high + air, 1.7e308))


def label(value: float) -> str:
    """A tick label: `1,500`, `0.25`, `1e-5`."""
    if value and not 1e-3 <= abs(value) < 1e6:
        digits, exponent = f"{value:.3e}".split("e")
        return f"{digits.rstrip('0').rstrip('.')}e{int(exponent)}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def percent(share: float) -> str:
    """A share of the width in per cent."""
    return f"{100 * share:.3f}%"
