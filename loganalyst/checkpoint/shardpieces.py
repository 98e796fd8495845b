"""One tensor from the boxes that several processes wrote of it: side by side or one below the other, in row order."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from loganalyst.checkpoint.tensorblocks import BLOCK

MOST = 4096  # boxes that lie side by side, each checked against each


@dataclass(frozen=True)
class Piece:
    """A box of a tensor: where it begins on each axis, how long it is, and its elements in row order."""

    begin: tuple[int, ...]
    shape: tuple[int, ...]
    raw: Callable[[], Iterator[NDArray[Any]]]

    @property
    def end(self) -> tuple[int, ...]:
        """The first place after it on each axis."""
        return tuple(b + n for b, n in zip(self.begin, self.shape, strict=True))


def fill(shape: tuple[int, ...], pieces: Sequence[Piece]) -> bool:
    """Whether the pieces fill the shape, each place once."""
    inside = all(len(p.begin) == len(p.shape) == len(shape) and not any(map(int.__gt__, p.end, shape)) for p in pieces)
    if not inside or sum(prod(p.shape) for p in pieces) != prod(shape) or len(pieces) > MOST:
        return False
    begin, end = (np.array([getattr(p, side) for p in pieces if prod(p.shape)]) for side in ("begin", "end"))
    if not shape or not len(begin):
        return True
    meet = (begin[:, None] < end[None]) & (begin[None] < end[:, None])
    return int(meet.all(axis=2).sum()) == len(begin)  # each meets itself


def joined(shape: tuple[int, ...], pieces: Sequence[Piece], kind: np.dtype[Any]) -> Iterator[NDArray[Any]]:
    """All elements of the tensor in row order, `BLOCK` at a time; what it gives holds until the next is asked for."""
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
    """From top to bottom. Between two edges the same pieces lie side by side; one that is alone is given as it is."""
    if not shape:
        yield from (block for p in pieces for block in p.raw())
        return
    taken = {p: Taken(p.raw(), kind) for p in pieces}
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


class Taken:
    """The elements of a piece, as many at a time as are asked for."""

    def __init__(self, blocks: Iterator[NDArray[Any]], kind: np.dtype[Any]) -> None:
        self._blocks, self._rest = blocks, np.empty(0, kind)

    def next(self, count: int) -> NDArray[Any]:
        """The next `count` elements."""
        out, filled = np.empty(count, self._rest.dtype), 0
        while filled < count:
            if not len(self._rest):
                self._rest = next(self._blocks)
            some, self._rest = self._rest[: count - filled], self._rest[count - filled :]
            out[filled : filled + len(some)] = some
            filled += len(some)
        return out
