"""What the bit patterns of floating-point numbers tell: a block's extremes in four passes over integers that write
nothing, and its values in any order, which is all that sums need and cheaper than in theirs.

As unsigned integers negative numbers stand above the others, and each half is ordered by size; as signed ones they
stand below them, again by size. NaN and Inf are the largest of each half.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from loganalyst.checkpoint.tensorblocks import BLOCK, RAW, SHORT, Values, decoder


@dataclass
class Ends:
    """The extreme codes of finite values so far: of all as unsigned and as signed integers. Empty at first."""

    top: int = -1
    bottom: int = 1 << 64
    last: int = -(1 << 63)
    first: int = 1 << 63

    def include(self, other: "Ends") -> None:
        """Those of both."""
        self.top, self.bottom = max(self.top, other.top), min(self.bottom, other.bottom)
        self.last, self.first = max(self.last, other.last), min(self.first, other.first)


class Coded:
    """Numbers of one type by their codes: `sign` is that of -0, from `infinite` on (without sign) none is finite."""

    def __init__(self, dtype: str) -> None:
        self._decode = decoder(dtype)
        self.raw = np.dtype(RAW[dtype])
        bits = 8 * self.raw.itemsize
        self.sign, self.unsigned, self.signed = 1 << bits - 1, np.dtype(f"u{bits // 8}"), np.dtype(f"i{bits // 8}")
        self.infinite = SHORT[dtype][2] if dtype in SHORT else int(np.array(np.inf, self.raw).view(self.unsigned))

    def ends(self, raw: NDArray[Any]) -> Ends:
        """Of one block (not empty)."""
        codes, signed = raw.view(self.unsigned), raw.view(self.signed)
        return Ends(*(int(reduce(x)) for x in (codes, signed) for reduce in (np.maximum.reduce, np.minimum.reduce)))

    def finite(self, ends: Ends) -> bool:
        """Whether all values are."""
        return ends.last < self.infinite and ends.top < self.sign + self.infinite

    def peak(self, ends: Ends) -> int:
        """The code of the largest size."""
        return max(ends.last, ends.top - self.sign, 0)

    def nearest(self, ends: Ends) -> int:
        """The code of the smallest size."""
        return min(ends.bottom, ends.first + self.sign if ends.first < 0 else self.sign)

    def span(self, ends: Ends) -> tuple[float, float]:
        """The lowest and the highest value."""
        low = ends.top if ends.top >= self.sign else ends.bottom
        high = ends.last if ends.last >= 0 else ends.first + 2 * self.sign
        first, last = self._decode(np.array([low, high], self.unsigned).view(self.raw)).tolist()
        return first, last

    @cached_property
    def _sizes(self) -> Values:
        """Of a short type every finite size, by its code."""
        values: Values = self._decode(np.arange(self.infinite).astype(self.raw)).astype(np.float32)
        return values

    def code(self, size: float) -> int:
        """The smallest code with at least this size (above 0)."""
        if self.raw.kind == "u":
            return int(np.searchsorted(self._sizes, size))
        near = np.array(size, self.raw)
        return int(near.view(self.unsigned)) + int(float(near) < size)


def unordered(dtype: str) -> Callable[[NDArray[Any]], Values]:
    """From raw elements that are all finite to their values as float32 or float64; of 16 bits every second one first,
    as shifts of whole words leave them.
    """
    ordered = decoder(dtype)
    if dtype not in SHORT:
        return ordered
    mantissa, bias, _ = SHORT[dtype]
    down = mantissa - 7  # a float32 has 7 bits of it in its upper half
    mask = np.int32(-(1 << 31) | ((1 << 15) - 1) << 23 - mantissa)
    scale, wide = np.float32(2.0 ** (127 - bias)), np.empty(BLOCK, np.int32)

    def decode(raw: NDArray[Any]) -> Values:
        if len(raw) % 2:
            return ordered(raw)
        pairs, half = raw.view(np.int32), len(raw) // 2
        for moved, out in ((np.left_shift(pairs, 16, out=wide[:half]), wide[:half]), (pairs, wide[half : len(raw)])):
            np.bitwise_and(np.right_shift(moved, down, out=out) if down else moved, mask, out=out)
        values = wide[: len(raw)].view(np.float32)
        return values if bias == 127 else np.multiply(values, scale, out=values)

    return decode
