"""The statistics of a tensor, from one pass over its blocks; and the difference between two tensors."""

import math
from dataclasses import dataclass
from math import isfinite, prod, sqrt

import numpy as np

from loganalyst.checkpoint.blocksums import SAFE_PEAK, scanner
from loganalyst.checkpoint.tensorblocks import RAW, Stored, Values
from loganalyst.model import TensorStats

TINY = 1e-8  # a value of a smaller size counts as tiny


def scan(stored: Stored, *, tiny: float = TINY) -> TensorStats:
    """The statistics of the finite values of one tensor. Values of a size below `tiny` are counted as tiny.

    Counts and extremes are exact (integers above 2^53 are rounded to float64); mean, deviation and norm hold to about
    1e-6.
    """
    adding = scanner(stored.dtype, tiny)
    with np.errstate(over="ignore", invalid="ignore"):
        for block in stored.raw():
            adding.add(block)
    s = adding.sums()
    complete = s.finite + s.nan + s.inf == prod(stored.shape)  # a view may repeat one value many times
    may_be_dead = complete and len(stored.shape) > 1 and stored.floating and s.zeros >= prod(stored.shape[1:]) > 0
    has_finite = s.finite > 0
    return TensorStats(
        name=stored.name,
        shape=stored.shape,
        dtype=stored.dtype,
        count=prod(stored.shape),
        nan=s.nan,
        inf=s.inf,
        zeros=s.zeros,
        tiny=s.tiny,
        min=s.low if has_finite else None,
        max=s.high if has_finite else None,
        mean=s.mean if has_finite else None,
        std=sqrt(max(s.about_mean, 0.0) / s.finite) if has_finite else None,
        norm=sqrt(s.about_zero) if has_finite else None,
        dead_rows=_dead_rows(stored) if may_be_dead else 0,
    )


def _dead_rows(stored: Stored) -> int:
    """The number of all-zero rows: outputs that are always their bias. This second pass runs if there are zeros enough
    for a row. It works on bits: a zero has none set but its sign.
    """
    parts = 2 if "complex" in stored.dtype else 1
    width = prod(stored.shape[1:]) * parts
    bits = np.zeros(stored.shape[0], f"u{np.dtype(RAW[stored.dtype]).itemsize // parts}")
    offset = 0
    for block in stored.raw():
        codes = block.view(bits.dtype)
        first, edges = _row_edges(offset, len(codes), width)
        if first + len(edges) > len(bits):
            return 0
        bits[first : first + len(edges)] |= np.bitwise_or.reduceat(codes, edges)
        offset += len(codes)
    return int(np.count_nonzero(bits << 1 == 0)) if offset == len(bits) * width else 0


def _row_edges(offset: int, length: int, width: int) -> "tuple[int, np.ndarray[tuple[int], np.dtype[np.int64]]]":
    """The first row of a block, and the index at which each of its rows begins."""
    first = offset // width
    edges = np.arange(first * width - offset, length, width, dtype=np.int64)
    edges[0] = 0
    return first, edges


@dataclass(frozen=True)
class Difference:
    """The difference of two tensors: its norm as a share of the old norm, and the cosine of old and new."""

    relative: float | None
    cosine: float | None
    equal: bool


def difference(old: Stored, new: Stored) -> Difference:
    """Compare two tensors of one shape block by block; the result is None if a value is not finite."""
    equal, moved, before, after, product = True, 0.0, 0.0, 0.0, 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        for a, b in zip(old.blocks(), new.blocks(), strict=True):
            if np.array_equal(a, b):
                square = float(np.dot(a, a)) if SAFE_PEAK[0] < float(np.abs(a).max()) < SAFE_PEAK[1] else _square(a)
                before, after, product = before + square, after + square, product + square
                continue
            equal = False
            x, y = a.astype(np.float64), b.astype(np.float64)
            before, after, product = before + float(x @ x), after + float(y @ y), product + float(x @ y)
            y -= x
            moved += float(y @ y)
    if not isfinite(moved + before + after):
        return Difference(None, None, equal)
    relative = sqrt(moved / before) if before else (math.inf if moved else 0.0)
    return Difference(relative, product / sqrt(before * after) if before and after else None, equal)


def _square(x: Values) -> float:
    wide = x.astype(np.float64)
    return float(wide @ wide)
