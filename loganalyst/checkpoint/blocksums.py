"""Accumulates the statistics of a tensor block by block: counts, extremes, and sums that keep their digits."""

import math
from dataclasses import dataclass
from functools import cache
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from loganalyst.checkpoint.floatbits import CodeExtremes, FloatCodes, unordered
from loganalyst.checkpoint.tensorblocks import BLOCK, BYTE_FLOATS, SHORT_FLOATS, Values, decoder, values_of

SAFE_PEAK = (1e-12, 1e15)  # float32 can add up the squares of a block whose largest size lies between these
ROW_LENGTH = 4096  # values that are summed in their own type; more would lose digits
MIN_VARIANCE_SHARE = 0.1  # variance as a share of the mean square: below it, float32 loses digits of the variance


def scanner(dtype: str, tiny: float) -> "Scanner":
    """The scanner for this type. Values of a size below `tiny` are counted as tiny."""
    if dtype in BYTE_FLOATS:
        return _ByteScanner(dtype, tiny)
    return (_CodedScanner if dtype in ("float32", "float64", *SHORT_FLOATS) else Scanner)(dtype, tiny)


@dataclass
class Sums:
    """Counts of all values so far; for the finite ones also mean, squares about the mean and squares about 0."""

    finite: int = 0
    nan: int = 0
    inf: int = 0
    zeros: int = 0
    tiny: int = 0
    low: float = math.inf
    high: float = -math.inf
    mean: float = 0.0
    about_mean: float = 0.0
    about_zero: float = 0.0


class Scanner:
    """Scans values. It reads each block several times while the block is in the cache, where this costs little."""

    def __init__(self, dtype: str, tiny: float) -> None:
        self._sums, self._limit = Sums(), tiny
        self._ordered = decoder(dtype)
        self._mask = np.empty(2 * BLOCK, np.bool_)

    def add(self, raw: NDArray[Any]) -> None:
        """Add a block, which must not be empty."""
        x, s = self._ordered(raw), self._sums
        low, high = float(x.min()), float(x.max())  # both are NaN if any value is
        if not (isfinite(low) and isfinite(high)):
            x = self._without_nonfinite(x)
            if not len(x):
                return
            low, high = float(x.min()), float(x.max())
        s.low, s.high = min(s.low, low), max(s.high, high)
        peak, may_be_tiny = max(-low, high), low < self._limit and high > -self._limit
        self._add_finite(x, nonzero=peak > 0, may_be_tiny=may_be_tiny, float32=SAFE_PEAK[0] < peak < SAFE_PEAK[1])

    def sums(self) -> Sums:
        """The sums over all blocks."""
        return self._sums

    def _add_finite(self, x: Values, *, nonzero: bool, may_be_tiny: bool, float32: bool) -> None:
        """Add finite values; some may be nonzero or tiny, and `float32` says that it can add up their squares."""
        if not nonzero:
            self._sums.zeros, self._sums.tiny = self._sums.zeros + len(x), self._sums.tiny + len(x)
            self._merge(len(x), 0.0, 0.0, 0.0)
            return
        if may_be_tiny:
            self._count_tiny(x)
        self._merge(len(x), *_moments(x, float32=float32))

    def _without_nonfinite(self, x: Values) -> Values:
        nan = int(np.count_nonzero(np.isnan(x)))
        kept = x[np.isfinite(x)]
        self._sums.nan += nan
        self._sums.inf += len(x) - len(kept) - nan
        return kept

    def _count_tiny(self, x: Values) -> None:
        limit, mask = _at_least(self._limit, x.dtype), self._mask[: len(x)]
        below = np.count_nonzero(np.less(x, limit, out=mask))
        tiny = int(below - np.count_nonzero(np.less_equal(x, -limit, out=mask)))
        if tiny or not limit:
            self._sums.zeros += int(np.count_nonzero(np.equal(x, 0, out=mask)))
        self._sums.tiny += tiny

    def _merge(self, count: int, mean: float, about_mean: float, about_zero: float) -> None:
        """Merge mean and squares of another block (Chan's parallel update)."""
        s = self._sums
        total, shift = s.finite + count, mean - s.mean
        s.mean += shift * count / total
        s.about_mean += about_mean + shift * shift * s.finite * count / total
        s.about_zero += about_zero
        s.finite = total


class _CodedScanner(Scanner):
    """For types whose codes sort by size: the codes of a finite block give everything but the sums."""

    def __init__(self, dtype: str, tiny: float) -> None:
        super().__init__(dtype, tiny)
        self._codes, self._unordered, self._extremes = FloatCodes(dtype), unordered(dtype), CodeExtremes()
        self._tiny, self._min_peak, self._max_peak = map(self._codes.code, (tiny, *SAFE_PEAK))

    def add(self, raw: NDArray[Any]) -> None:
        extremes = self._codes.extremes(raw)
        if not self._codes.finite(extremes):
            super().add(raw)
            return
        self._extremes.include(extremes)
        peak, may_be_tiny = self._codes.largest(extremes), self._codes.smallest(extremes) < self._tiny
        float32 = self._min_peak < peak < self._max_peak
        self._add_finite(self._unordered(raw), nonzero=peak > 0, may_be_tiny=may_be_tiny, float32=float32)

    def sums(self) -> Sums:
        if self._extremes.max_unsigned >= 0:
            low, high = self._codes.span(self._extremes)
            self._sums.low, self._sums.high = min(self._sums.low, low), max(self._sums.high, high)
        return self._sums


class _ByteScanner(Scanner):
    """For 8-bit types: the number of times that each code occurs gives every statistic."""

    def __init__(self, dtype: str, tiny: float) -> None:
        super().__init__(dtype, tiny)
        with np.errstate(invalid="ignore"):  # the table holds signalling NaN
            self._values = values_of(dtype).astype(np.float64)
        self._counts = np.zeros(len(self._values), np.int64)

    def add(self, raw: NDArray[Any]) -> None:
        self._counts += np.bincount(raw, minlength=len(self._counts))

    def sums(self) -> Sums:
        seen = (self._counts > 0) & np.isfinite(self._values)
        counts, values, n = self._counts[seen], self._values[seen], int(self._counts[seen].sum())
        mean = float(counts @ values) / n if n else 0.0
        return Sums(
            finite=n,
            nan=int(self._counts[np.isnan(self._values)].sum()),
            inf=int(self._counts[np.isinf(self._values)].sum()),
            zeros=int(counts[values == 0].sum()),
            tiny=int(counts[np.abs(values) < self._limit].sum()),
            low=float(values.min(initial=math.inf)),
            high=float(values.max(initial=-math.inf)),
            mean=mean,
            about_mean=float(counts @ (values - mean) ** 2),
            about_zero=float(counts @ values**2),
        )


@cache
def _at_least(size: float, dtype: "np.dtype[np.floating]") -> np.floating:
    """The smallest number of the type that is at least `size`."""
    rounded = dtype.type(size)
    return rounded if float(rounded) >= size else np.nextafter(rounded, dtype.type(np.inf))


def _moments(x: Values, *, float32: bool) -> tuple[float, float, float]:
    """Mean, squares about it and squares about 0: in the type of `x` if that is exact enough, else in float64."""
    n = len(x)
    if float32:
        total, power = _sum_and_squares(x)
        mean = total / n
        around = power - n * mean * mean
        if around > MIN_VARIANCE_SHARE * power:
            return mean, around, power
    wide = x.astype(np.float64)
    mean = float(wide.mean())
    power = float(np.dot(wide, wide))
    wide -= mean
    return mean, float(np.dot(wide, wide)), power


def _sum_and_squares(x: Values) -> tuple[float, float]:
    """The sum of the values and of their squares. Rows are summed in their own type, which is fast and exact enough for
    so few values. Dot products are several times faster than sums; rows are so short that BLAS starts no threads.
    """
    whole = len(x) - len(x) % ROW_LENGTH
    rows, rest = x[:whole].reshape(-1, ROW_LENGTH), x[whole:].astype(np.float64)
    total = float(np.add.reduce(np.vecdot(rows, _ones(x.dtype)), dtype=np.float64))
    power = float(np.add.reduce(np.vecdot(rows, rows), dtype=np.float64))
    return (total + float(np.add.reduce(rest)), power + float(rest @ rest)) if len(rest) else (total, power)


@cache
def _ones(dtype: "np.dtype[np.floating]") -> Values:
    return np.ones(ROW_LENGTH, dtype)
