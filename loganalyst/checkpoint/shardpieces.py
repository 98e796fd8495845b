"""One tensor from the boxes that several processes wrote, in row order."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from loganalyst.checkpoint.tensorblocks import BLOCK

MAX_PIECES = 4096  # boxes of a tensor; each is checked against every other


@dataclass(frozen=True)
class Piece:
    """A box of a tensor: where it begins on each axis, how long it is, and its elements in row order."""

    begin: tuple[int, ...]
    shape: tuple[int, ...]
    raw: Callable[[], Iterator[NDArray[Any]]]

    @property
    def end(self) -> tuple[int, ...]:
        """The first index after the box on each axis."""
        return tuple(b + n for b, n in zip(self.begin, self.shape, strict=True))


def fill(shape: tuple[int, ...], pieces: Sequence[Piece]) -> bool:
    """Whether the pieces cover every element of the shape exactly once."""
    inside = all(len(p.begin) == len(p.shape) == len(shape) and not any(map(int.__gt__, p.end, shape)) for p in pieces)
    if not inside or sum(prod(p.shape) for p in pieces) != prod(shape) or len(pieces) > MAX_PIECES:
        return False
    begin, end = (np.array([getattr(p, side) for p in pieces if prod(p.shape)]) for side in ("begin", "end"))
    if not shape or not len(begin):
        return True
    overlap = (begin[:, None] < end[None]) & (begin[None] < end[:, None])
    return int(overlap.all(axis=2).sum()) == len(begin)  # each overlaps itself only


def joined(shape: tuple[int, ...], pieces: Sequence[Piece], kind: np.dtype[Any]) -> Iterator[NDArray[Any]]:
    """All elements of the tensor in row order, `BLOCK` at a time. A block is valid until the next one is requested."""
    block, filled = np.empty(min(prod(shape), BLOCK), kind), 0
    for strip in _strips(shape, [p for p in pieces if prod(p.shape)], kind):
        done = 0
        while done < len(strip):
            some = strip[done : done + len(block) - filled]
            block[filled : filled + len(some)] = some
            done, filled = done + len(some), filled + len(some)
            if filled == len(block):
                yield block
                filled = 0
    if filled:
        yield block[:filled]


def _strips(shape: tuple[int, ...], pieces: Sequence[Piece], kind: np.dtype[Any]) -> Iterator[NDArray[Any]]:
    """Strips from top to bottom. Between two edges the same pieces lie side by side; a single piece is passed on as it
    is.
    """
    if not shape:
        yield from (block for p in pieces for block in p.raw())
        return
    taken = {p: BlockReader(p.raw(), kind) for p in pieces}
    for first, last in pairwise(sorted({edge for p in pieces for edge in (p.begin[0], p.end[0])})):
        here = [p for p in pieces if p.begin[0] <= first < p.end[0]]
        width = prod(shape[1:])
        rows = max(BLOCK // width, 1)
        for row in range(first, last, rows):
            count = min(rows, last - row)
            if len(here) == 1:
                yield taken[here[0]].next(count * width)
                continue
            strip = np.zeros((count, *shape[1:]), kind)
            for p in here:
                place = tuple(slice(b, e) for b, e in zip(p.begin[1:], p.end[1:], strict=True))
                strip[:, *place] = taken[p].next(count * prod(p.shape[1:])).reshape(count, *p.shape[1:])
            yield strip.reshape(-1)


class BlockReader:
    """Reads blocks as chunks of any length."""

    def __init__(self, blocks: Iterator[NDArray[Any]], kind: np.dtype[Any]) -> None:
        self._blocks, self._left = blocks, np.empty(0, kind)

    def next(self, count: int) -> NDArray[Any]:
        """The next `count` elements."""
        out, filled = np.empty(count, self._left.dtype), 0
        while filled < count:
            if not len(self._left):
                self._left = next(self._blocks)
            some, self._left = self._left[: count - filled], self._left[count - filled :]
            out[filled : filled + len(some)] = some
            filled += len(some)
        return out
