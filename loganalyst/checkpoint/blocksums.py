"""Adds up the blocks of a tensor: counts, extremes, and sums that keep their digits."""

import math
from dataclasses import dataclass
from functools import cache
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from loganalyst.checkpoint.floatbits import Coded, Ends, unordered
from loganalyst.checkpoint.tensorblocks import BLOCK, BYTES, SHORT, Values, decoder, values_of

SAFE = (1e-12, 1e15)  # the largest value of a block whose squares float32 can add up
ROW = 4096  # values added up in their own type
LOST = 0.1  # share of the mean square that is variance: below, float32 would lose digits of it


def scanner(dtype: str, tiny: float) -> "Scanner":
    """The one for this type; `tiny` counts values of a smaller size."""
    if dtype in BYTES:
        return _ByteScanner(dtype, tiny)
    return (_CodedScanner if dtype in ("float32", "float64", *SHORT) else Scanner)(dtype, tiny)


@dataclass
class Sums:
    """Of the finite values so far: how many, their mean, squares about it and about 0, and the rest counted."""

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
    """Of values. Each block is read several times while it is in the cache, which costs little beside fetching it."""

    def __init__(self, dtype: str, tiny: float) -> None:
        self._sums, self._limit = Sums(), tiny
        self._ordered = decoder(dtype)
        self._mask = np.empty(2 * BLOCK, np.bool_)

    def add(self, raw: NDArray[Any]) -> None:
        """One more block (not empty)."""
        x, s = self._ordered(raw), self._sums
        low, high = float(x.min()), float(x.max())  # NaN if one value is
        if not (isfinite(low) and isfinite(high)):
            x = self._without_nonfinite(x)
            if not len(x):
                return
            low, high = float(x.min()), float(x.max())
        s.low, s.high = min(s.low, low), max(s.high, high)
        peak, near = max(-low, high), low < self._limit and high > -self._limit
        self._finite(x, some=peak > 0, tiny=near, safe=SAFE[0] < peak < SAFE[1])

    def sums(self) -> Sums:
        """Of all blocks."""
        return self._sums

    def _finite(self, x: Values, *, some: bool, tiny: bool, safe: bool) -> None:
        """Finite values: whether some are not 0, whether some may be tiny, whether float32 can add up their squares."""
        if not some:
            self._sums.zeros, self._sums.tiny = self._sums.zeros + len(x), self._sums.tiny + len(x)
            self._merge(len(x), 0.0, 0.0, 0.0)
            return
        if tiny:
            self._count_tiny(x)
        self._merge(len(x), *_moments(x, safe=safe))

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
        """Chan's update of mean and squares by those of another part."""
        s = self._sums
        total, apart = s.finite + count, mean - s.mean
        s.mean += apart * count / total
        s.about_mean += about_mean + apart * apart * s.finite * count / total
        s.about_zero += about_zero
        s.finite = total


class _CodedScanner(Scanner):
    """Of types whose codes are ordered by size: of a finite block they tell all but the sums."""

    def __init__(self, dtype: str, tiny: float) -> None:
        super().__init__(dtype, tiny)
        self._codes, self._unordered, self._ends = Coded(dtype), unordered(dtype), Ends()
        self._tiny, self._least, self._most = map(self._codes.code, (tiny, *SAFE))

    def add(self, raw: NDArray[Any]) -> None:
        ends = self._codes.ends(raw)
        if not self._codes.finite(ends):
            super().add(raw)
            return
        self._ends.include(ends)
        peak, near = self._codes.peak(ends), self._codes.nearest(ends) < self._tiny
        self._finite(self._unordered(raw), some=peak > 0, tiny=near, safe=self._least < peak < self._most)

    def sums(self) -> Sums:
        if self._ends.top >= 0:
            low, high = self._codes.span(self._ends)
            self._sums.low, self._sums.high = min(self._sums.low, low), max(self._sums.high, high)
        return self._sums


class _ByteScanner(Scanner):
    """Of types of 8 bits: how often each code comes is all there is to know."""

    def __init__(self, dtype: str, tiny: float) -> None:
        super().__init__(dtype, tiny)
        with np.errstate(invalid="ignore"):  # NaN that signals
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
    """The smallest number of the type that is not below."""
    near = dtype.type(size)
    return near if float(near) >= size else np.nextafter(near, dtype.type(np.inf))


def _moments(x: Values, *, safe: bool) -> tuple[float, float, float]:
    """Mean, squares about it and squares about 0: in the type of `x` where that is exact enough, else in float64."""
    n = len(x)
    if safe:
        total, power = _added_up(x)
        mean = total / n
        around = power - n * mean * mean
        if around > LOST * power:
            return mean, around, power
    wide = x.astype(np.float64)
    mean = float(wide.mean())
    power = float(np.dot(wide, wide))
    wide -= mean
    return mean, float(np.dot(wide, wide)), power


def _added_up(x: Values) -> tuple[float, float]:
    """The values and their squares, in rows: each in its own type, which is fast and of so few values exact enough. By
    products (a sum is several times as slow), of rows so short that BLAS starts no threads of its own.
    """
    whole = len(x) - len(x) % ROW
    rows, rest = x[:whole].reshape(-1, ROW), x[whole:].astype(np.float64)
    total = float(np.add.reduce(np.vecdot(rows, _ones(x.dtype)), dtype=np.float64))
    power = float(np.add.reduce(np.vecdot(rows, rows), dtype=np.float64))
    return (total + float(np.add.reduce(rest)), power + float(rest @ rest)) if len(rest) else (total, power)


@cache
def _ones(dtype: "np.dtype[np.floating]") -> Values:
    return np.ones(ROW, dtype)
