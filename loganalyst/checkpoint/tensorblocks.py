"""A stored tensor, read in blocks of values, so that a checkpoint may be far larger than memory."""

import os
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from loganalyst.errors import SourceError
from loganalyst.opening import opened_raw

Values = NDArray[np.float32] | NDArray[np.float64]

BLOCK = 1 << 17  # elements; as float32 a block stays in a core's own cache while several passes read it
RAW: dict[str, str] = {  # the stored elements of each type, as a numpy type
    "float64": "<f8",
    "float32": "<f4",
    "float16": "<u2",
    "bfloat16": "<u2",
    "float8_e4m3fn": "u1",
    "float8_e5m2": "u1",
    "float8_e8m0fnu": "u1",
    "complex64": "<c8",
    "complex128": "<c16",
    "int64": "<i8",
    "int32": "<i4",
    "int16": "<i2",
    "int8": "i1",
    "uint64": "<u8",
    "uint32": "<u4",
    "uint16": "<u2",
    "uint8": "u1",
    "bool": "?",
}

SHORT_FLOATS = {  # 16-bit types: bits of the mantissa, bias of the exponent, the first code that is not finite
    "float16": (10, 15, 0x7C00),
    "bfloat16": (7, 127, 0x7F80),
}
BYTE_FLOATS = ("float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu")  # types with one byte per value


@dataclass(frozen=True)
class Stored:
    """One tensor of a file. `raw` yields its elements in row order, `BLOCK` at a time, in the type of `RAW`; a block is
    valid until the next one is requested. Tensors that share their memory have the same `storage`.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    raw: Callable[[], Iterator[NDArray[Any]]]
    storage: Hashable

    def named(self, name: str) -> "Stored":
        """The same tensor under another name."""
        return replace(self, name=name)

    @property
    def floating(self) -> bool:
        """Whether its type is floating-point or complex, as parameters are."""
        return "float" in self.dtype or "complex" in self.dtype

    def blocks(self) -> Iterator[Values]:
        """Its values as float32 (float64 if float32 would lose digits); a complex number is two values."""
        decode = decoder(self.dtype)
        return map(decode, self.raw())


def from_file(path: Path, start: int, count: int, kind: np.dtype[Any]) -> Iterator[NDArray[Any]]:
    """`count` elements of a file from byte `start` on. They are read into one buffer that stays in the cache: faster
    than mapped memory, and safe if the file is cut.
    """
    buffer = np.empty(min(count, BLOCK), kind)
    with opened_raw(path) as file:
        file.seek(start, os.SEEK_SET)
        for done in range(0, count, BLOCK):
            block = buffer[: count - done]
            if file.readinto(block.data.cast("B")) != block.nbytes:
                raise SourceError(path, "became shorter while it was read", "a checkpoint that is complete")
            yield block


def decoder(dtype: str) -> Callable[[NDArray[Any]], Values]:
    """A decoder from raw elements of a type to float32 or float64. Its result is valid until the next call."""
    match dtype:
        case "float32" | "float64":
            return lambda raw: raw
        case "complex64" | "complex128":
            parts: np.dtype[Any] = np.dtype(np.float32 if dtype == "complex64" else np.float64)
            return lambda raw: raw.view(parts)
        case "bfloat16":
            return _bfloat16()
        case "float16":
            return _float16(*SHORT_FLOATS[dtype])
    if dtype in BYTE_FLOATS:
        return lambda raw: _look_up(dtype, raw)
    return lambda raw: raw.astype(np.float64)


def _bfloat16() -> Callable[[NDArray[Any]], Values]:
    """A bfloat16 is the upper half of a float32."""
    wide = np.empty(BLOCK, np.uint32)

    def decode(raw: NDArray[Any]) -> Values:
        out = wide[: len(raw)]
        out[:] = raw
        np.left_shift(out, 16, out=out)
        return out.view(np.float32)

    return decode


def _float16(mantissa: int, bias: int, special: int) -> Callable[[NDArray[Any]], Values]:
    """The bits move to the places of sign, exponent and mantissa in a float32. Multiplied by the factor between the
    biases, they are the value, also if subnormal. Blocks with NaN or Inf use the table.
    """
    shift, wide = 23 - mantissa, np.empty(BLOCK, np.int32)
    # the mask keeps sign, exponent and mantissa: the shift filled the bits below the sign with copies of it
    mask, scale = np.int32(-(1 << 31) | ((1 << 15) - 1) << shift), np.float32(2.0 ** (127 - bias))

    def decode(raw: NDArray[Any]) -> Values:
        signed = raw.view(np.int16)
        if int(raw.max()) >= special + (1 << 15) or int(signed.max()) >= special:
            return _look_up("float16", raw)
        out = wide[: len(raw)]
        out[:] = signed
        np.left_shift(out, shift, out=out)
        np.bitwise_and(out, mask, out=out)
        values = out.view(np.float32)
        return np.multiply(values, scale, out=values)

    return decode


def _look_up(dtype: str, raw: NDArray[Any]) -> Values:
    found: NDArray[np.float32] = values_of(dtype)[raw]
    return found


@cache
def values_of(dtype: str) -> NDArray[np.float32]:
    """The value of each bit pattern of a type of 8 or 16 bits."""
    with np.errstate(invalid="ignore"):
        if dtype == "float16":
            return np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)
        if dtype == "float8_e5m2":  # the upper half of a float16
            return (np.arange(256, dtype=np.uint16) << 8).view(np.float16).astype(np.float32)
    code = np.arange(256)
    if dtype == "float8_e8m0fnu":
        return np.where(code == 255, np.nan, np.exp2(code - 127.0)).astype(np.float32)
    # e4m3fn: 4 bits of exponent with the bias 7, 3 of mantissa; no Inf, and NaN only where all seven bits are set
    exponent, mantissa = code >> 3 & 15, code & 7
    size = np.where(exponent == 0, mantissa * 2.0**-9, (8 + mantissa) * np.exp2(exponent - 10.0))
    return np.where(code & 127 == 127, np.nan, np.where(code < 128, size, -size)).astype(np.float32)
