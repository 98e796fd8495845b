"""What the numbers of a tensor say, from one pass over its blocks; and how far two tensors are apart."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite, prod, sqrt

import numpy as np

from loganalyst.checkpoint.blocksums import SAFE, scanner
from loganalyst.checkpoint.tensorblocks import RAW, Stored, Values
from loganalyst.model import TensorStats

TINY = 1e-8


def scan(stored: Stored, *, tiny: float = TINY) -> TensorStats:
    """The statistics of one tensor, of its finite values; `tiny` counts those of a smaller size.

    Counts and extremes are exact (whole numbers above 2^53: to float64); mean, deviation and norm to about 1e-6.
    """
    adding = scanner(stored.dtype, tiny)
    with np.errstate(over="ignore", invalid="ignore"):
        for block in stored.raw():
            adding.add(block)
    s = adding.sums()
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
    """Rows that are all zeros: outputs that are always their bias. A second pass, if zeros suffice for one: over bits,
    of which zeros have none but that of the sign.
    """
    parts = 2 if "complex" in stored.dtype else 1
    width = prod(stored.shape[1:]) * parts
    bits = np.zeros(stored.shape[0], f"u{np.dtype(RAW[stored.dtype]).itemsize // parts}")
    offset = 0
    for block in stored.raw():
        codes = block.view(bits.dtype)
        first, edges = _rows(offset, len(codes), width)
        if first + len(edges) > len(bits):
            return 0
        bits[first : first + len(edges)] |= np.bitwise_or.reduceat(codes, edges)
        offset += len(codes)
    return int(np.count_nonzero(bits << 1 == 0)) if offset == len(bits) * width else 0


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
