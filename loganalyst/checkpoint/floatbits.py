"""Statistics from the bit patterns of floating-point numbers. Four passes over integers, which write nothing, give a
block's extremes. Sums need its values in any order, which is cheaper than in the original order.

Read as unsigned integers, the codes of negative numbers are above all others; read as signed ones, below them. The
codes of either half sort by absolute value. NaN and Inf have the largest codes of each half.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from loganalyst.checkpoint.tensorblocks import BLOCK, RAW, SHORT_FLOATS, Values, decoder


@dataclass
class CodeExtremes:
    """The extreme codes of the finite values so far, read as unsigned and as signed integers. Empty at the start."""

    max_unsigned: int = -1
    min_unsigned: int = 1 << 64
    max_signed: int = -(1 << 63)
    min_signed: int = 1 << 63

    def include(self, other: "CodeExtremes") -> None:
        """Extend to the extremes of both."""
        self.max_unsigned = max(self.max_unsigned, other.max_unsigned)
        self.min_unsigned = min(self.min_unsigned, other.min_unsigned)
        self.max_signed = max(self.max_signed, other.max_signed)
        self.min_signed = min(self.min_signed, other.min_signed)


class FloatCodes:
    """The codes of a type: `sign` is the code of -0; codes from `infinite` on (without the sign) are not finite."""

    def __init__(self, dtype: str) -> None:
        self._decode = decoder(dtype)
        self.raw = np.dtype(RAW[dtype])
        bits = 8 * self.raw.itemsize
        self.sign, self.unsigned, self.signed = 1 << bits - 1, np.dtype(f"u{bits // 8}"), np.dtype(f"i{bits // 8}")
        inf = np.array(np.inf, self.raw).view(self.unsigned) if dtype not in SHORT_FLOATS else SHORT_FLOATS[dtype][2]
        self.infinite = int(inf)

    def extremes(self, raw: NDArray[Any]) -> CodeExtremes:
        """The extremes of one block, which must not be empty."""
        codes, signed = raw.view(self.unsigned), raw.view(self.signed)
        return CodeExtremes(
            *(int(reduce(x)) for x in (codes, signed) for reduce in (np.maximum.reduce, np.minimum.reduce))
        )

    def finite(self, extremes: CodeExtremes) -> bool:
        """Whether all values are finite."""
        return extremes.max_signed < self.infinite and extremes.max_unsigned < self.sign + self.infinite

    def largest(self, extremes: CodeExtremes) -> int:
        """The code of the largest absolute value."""
        return max(extremes.max_signed, extremes.max_unsigned - self.sign, 0)

    def smallest(self, extremes: CodeExtremes) -> int:
        """The code of the smallest absolute value."""
        return min(extremes.min_unsigned, extremes.min_signed + self.sign if extremes.min_signed < 0 else self.sign)

    def span(self, extremes: CodeExtremes) -> tuple[float, float]:
        """The lowest and the highest value."""
        low = extremes.max_unsigned if extremes.max_unsigned >= self.sign else extremes.min_unsigned
        high = extremes.max_signed if extremes.max_signed >= 0 else extremes.min_signed + 2 * self.sign
        lowest, highest = self._decode(np.array([low, high], self.unsigned).view(self.raw)).tolist()
        return lowest, highest

    @cached_property
    def _sizes(self) -> Values:
        """Every finite size of a short type, by its code."""
        values: Values = self._decode(np.arange(self.infinite).astype(self.raw)).astype(np.float32)
        return values

    def code(self, size: float) -> int:
        """The smallest code whose value is at least `size` (above 0)."""
        if self.raw.kind == "u":
            return int(np.searchsorted(self._sizes, size))
        rounded = np.array(size, self.raw)
        return int(rounded.view(self.unsigned)) + int(float(rounded) < size)


def unordered(dtype: str) -> Callable[[NDArray[Any]], Values]:
    """A decoder from raw finite elements to float32 or float64. Of 16-bit elements every second one comes first,
    because shifts of whole 32-bit words leave them in this order.
    """
    ordered = decoder(dtype)
    if dtype not in SHORT_FLOATS:
        return ordered
    mantissa, bias, _ = SHORT_FLOATS[dtype]
    down = mantissa - 7  # the upper half of a float32 holds 7 bits of the mantissa
    # keeps the sign, and exponent and mantissa as far as the shift filled them
    mask = np.int32(-(1 << 31) | ((1 << 15) - 1) << 23 - mantissa)
    scale, wide = np.float32(2.0 ** (127 - bias)), np.empty(BLOCK, np.int32)  # the factor between the biases

    def decode(raw: NDArray[Any]) -> Values:
        if len(raw) % 2:
            return ordered(raw)
        pairs, half = raw.view(np.int32), len(raw) // 2
        for moved, out in ((np.left_shift(pairs, 16, out=wide[:half]), wide[:half]), (pairs, wide[half : len(raw)])):
            np.bitwise_and(np.right_shift(moved, down, out=out) if down else moved, mask, out=out)
        values = wide[: len(raw)].view(np.float32)
        return values if bias == 127 else np.multiply(values, scale, out=values)

    return decode
