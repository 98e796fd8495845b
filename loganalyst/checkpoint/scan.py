"""What the numbers of a tensor say, from one pass over its blocks."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import isfinite, prod, sqrt

import numpy as np

from loganalyst.checkpoint.blocks import BLOCK, Stored, Values
from loganalyst.model import TensorStats

TINY = 1e-8
SAFE = (1e-12, 1e15)  # the largest value of a block whose squares float32 can add up
ROW = 512  # values added up in their own type
LOST = 0.1  # share of the mean square that is variance: below, float32 would lose digits of it


@dataclass
class _Sums:
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


class _Scanner:
    """Adds up blocks. Each is read several times while it is in the cache, which costs little beside fetching it."""

    def __init__(self, tiny: float) -> None:
        self.sums, self._limit = _Sums(), tiny
        self._mask = np.empty(2 * BLOCK, np.bool_)

    def add(self, x: Values) -> None:
        """One more block (not empty)."""
        low, high = float(x.min()), float(x.max())  # NaN if one value is
        if not (isfinite(low) and isfinite(high)):
            x = self._without_nonfinite(x)
            if not len(x):
                return
            low, high = float(x.min()), float(x.max())
        s = self.sums
        s.low, s.high = min(s.low, low), max(s.high, high)
        if low == high == 0:
            s.zeros, s.tiny = s.zeros + len(x), s.tiny + len(x)
            self._merge(len(x), 0.0, 0.0, 0.0)
            return
        if low < self._limit and high > -self._limit:
            self._count_tiny(x)
        self._merge(len(x), *_moments(x, max(-low, high)))

    def _without_nonfinite(self, x: Values) -> Values:
        nan = int(np.count_nonzero(np.isnan(x)))
        kept = x[np.isfinite(x)]
        self.sums.nan += nan
        self.sums.inf += len(x) - len(kept) - nan
        return kept

    def _count_tiny(self, x: Values) -> None:
        limit, mask = x.dtype.type(self._limit), self._mask[: len(x)]
        below = np.count_nonzero(np.less(x, limit, out=mask))
        tiny = int(below - np.count_nonzero(np.less_equal(x, -limit, out=mask)))
        if tiny or not limit:
            self.sums.zeros += int(np.count_nonzero(np.equal(x, 0, out=mask)))
        self.sums.tiny += tiny

    def _merge(self, count: int, mean: float, about_mean: float, about_zero: float) -> None:
        """Chan's update of mean and squares by those of another part."""
        s = self.sums
        total, apart = s.finite + count, mean - s.mean
        s.mean += apart * count / total
        s.about_mean += about_mean + apart * apart * s.finite * count / total
        s.about_zero += about_zero
        s.finite = total


def _moments(x: Values, peak: float) -> tuple[float, float, float]:
    """Mean, squares about it and squares about 0: in the type of `x` where that is exact enough, else in float64."""
    n = len(x)
    if SAFE[0] < peak < SAFE[1]:
        mean, power = _sum(x) / n, float(np.dot(x, x))
        around = power - n * mean * mean
        if around > LOST * power:
            return mean, around, power
    wide = x.astype(np.float64)
    mean = float(wide.mean())
    power = float(np.dot(wide, wide))
    wide -= mean
    return mean, float(np.dot(wide, wide)), power


def _sum(x: Values) -> float:
    """By a product with ones: several times as fast as a sum, and in short rows as exact."""
    whole = len(x) - len(x) % ROW
    rows = x[:whole].reshape(-1, ROW) @ _ones(x.dtype)
    return float(rows.sum(dtype=np.float64)) + float(x[whole:].sum(dtype=np.float64))


@cache
def _ones(dtype: "np.dtype[np.floating]") -> Values:
    return np.ones(ROW, dtype)


def scan(stored: Stored, *, tiny: float = TINY) -> TensorStats:
    """The statistics of one tensor, of its finite values; `tiny` counts those of a smaller size.

    Counts and extremes are exact (whole numbers above 2^53: to float64); mean, deviation and norm to about 1e-6.
    """
    scanner = _Scanner(tiny)
    with np.errstate(over="ignore", invalid="ignore"):
        for block in stored.blocks():
            scanner.add(block)
    s = scanner.sums
    seen = s.finite + s.nan + s.inf == prod(stored.shape)  # a view may show one number many times
    rows = seen and len(stored.shape) > 1 and stored.floating and s.zeros >= prod(stored.shape[1:]) > 0
    some = s.finite > 0
    return TensorStats(
        name=stored.name,
        shape=stored.shape,
        dtype=stored.dtype,
        count=prod(stored.shape),
        nan=s.nan,
        inf=s.inf,
        zeros=s.zeros,
        tiny=s.tiny,
        min=s.low if some else None,
        max=s.high if some else None,
        mean=s.mean if some else None,
        std=sqrt(max(s.about_mean, 0.0) / s.finite) if some else None,
        norm=sqrt(s.about_zero) if some else None,
        dead_rows=_dead_rows(stored) if rows else 0,
    )


def _dead_rows(stored: Stored) -> int:
    """Rows that are all zeros: outputs that are always their bias. A second pass, if zeros suffice for one."""
    parts = 2 if "complex" in stored.dtype else 1
    width = prod(stored.shape[1:]) * parts
    alive, offset = np.zeros(stored.shape[0], np.bool_), 0
    for block in stored.blocks():
        first, edges = _rows(offset, len(block), width)
        if first + len(edges) > len(alive):
            return 0
        alive[first : first + len(edges)] |= np.logical_or.reduceat(block != 0, edges)
        offset += len(block)
    return int(len(alive) - np.count_nonzero(alive)) if offset == len(alive) * width else 0


def _rows(offset: int, length: int, width: int) -> "tuple[int, np.ndarray[tuple[int], np.dtype[np.int64]]]":
    """The first row of a block, and where in the block each of its rows begins."""
    first = offset // width
    edges = np.arange(first * width - offset, length, width, dtype=np.int64)
    edges[0] = 0
    return first, edges


@dataclass(frozen=True)
class Apart:
    """How far a tensor went: the length of the difference against the old length, and the cosine of old and new."""

    relative: float | None
    cosine: float | None
    equal: bool


def apart(old: Stored, new: Stored) -> Apart:
    """Two tensors of one shape against each other, block by block; None where a value is not finite."""
    equal, gone, before, after, along = True, 0.0, 0.0, 0.0, 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        for a, b in _pairs(old, new):
            if np.array_equal(a, b):
                square = float(np.dot(a, a)) if SAFE[0] < float(np.abs(a).max()) < SAFE[1] else _square(a)
                before, after, along = before + square, after + square, along + square
                continue
            equal = False
            x, y = a.astype(np.float64), b.astype(np.float64)
            before, after, along = before + float(x @ x), after + float(y @ y), along + float(x @ y)
            y -= x
            gone += float(y @ y)
    if not isfinite(gone + before + after):
        return Apart(None, None, equal)
    relative = sqrt(gone / before) if before else (math.inf if gone else 0.0)
    return Apart(relative, along / sqrt(before * after) if before and after else None, equal)


def _square(x: Values) -> float:
    wide = x.astype(np.float64)
    return float(wide @ wide)


def _pairs(old: Stored, new: Stored) -> Iterator[tuple[Values, Values]]:
    return zip(old.blocks(), new.blocks(), strict=True)
