"""Where lines, and the states that a refresh (CR) overwrote, begin in the bytes of a log."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from loganalyst.sources.text.sizes import SIZES


def line_starts(
    data: bytes, first: int = 0, most: int | None = None, cache: int = SIZES.cache
) -> tuple[NDArray[np.int64], set[int]]:
    """Where lines begin from `first` on, counted from there, and one more where the next would. Also the control
    characters that occur, without LF. Stops behind `most` lines or more.
    """
    text, found, others = np.frombuffer(data, np.uint8), [np.zeros(1, np.int64)], set[int]()
    control = np.empty(min(cache, len(data)), bool)  # reused: new memory costs more than the comparison
    lines = 0
    for k in range(first, len(data), cache):
        part = text[k : k + cache]
        at = places_of(np.less(part, 0x20, out=control[: len(part)]))
        feed = part[at] == ord("\n")
        if not feed.all():
            others.update(np.unique(part[at[~feed]]).tolist())
            at = at[feed]
        found.append(at + (k + 1 - first))
        lines += len(at)
        if most is not None and lines >= most:
            return np.concatenate(found), others
    return np.concatenate([*found, [len(data) + 1 - first]]), others


def places_of(mask: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The positions where `mask` is true. It tests 32 at a time: faster where few are true, as at the ends of lines."""
    words = np.zeros(-(-len(mask) // 32), "<u4")
    words.view(np.uint8)[: -(-len(mask) // 8)] = np.packbits(mask, bitorder="little")
    at = np.flatnonzero(words != 0)
    bits, found = words[at], []
    for _ in range(2):  # the lowest bit of each word; then the second bit of words with two
        below = bits - 1
        found.append(at * 32 + np.bitwise_count(~bits & below))
        bits &= below
        more = np.flatnonzero(bits != 0)
        if not len(more):
            return np.sort(np.concatenate(found), kind="stable")
        at, bits = at[more], bits[more]
    return np.flatnonzero(mask)


def refreshes(data: bytes, cache: int) -> tuple[bytes, NDArray[np.int64], NDArray[np.int64]]:
    """Each state that a line was overwritten with, as a row of its own.

    Empty states are dropped; a line with only empty ones keeps one. Also returned: where the rows begin (and one more),
    and the position of the line that each is a state of.
    """
    breaks, feed = _breaks(data, cache)
    at = np.concatenate([[0], np.cumsum(feed)])
    starts = np.concatenate([[0], breaks + 1, [len(data) + 1]])
    filled = np.diff(starts) > 1
    has_text = np.zeros(at[-1] + 1, bool)
    has_text[at[filled]] = True
    kept = filled | (~has_text[at] & (np.diff(at, prepend=-1) > 0))
    gone = np.flatnonzero(~kept)
    # a dropped state goes with the break before it; at the head of the data with the one after it
    data = _without(data, breaks[gone - (gone > np.argmax(kept))], cache).replace(b"\r", b"\n")
    left = np.append(kept, True)
    return data, (starts - np.cumsum(~left))[left], at[kept]


def _breaks(data: bytes, cache: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Where lines and their states end, and whether with LF."""
    text, found = np.frombuffer(data, np.uint8), []
    for k in range(0, len(data), cache):
        part = text[k : k + cache]
        found.append(places_of((part == ord("\n")) | (part == ord("\r"))) + k)
    breaks = np.concatenate(found)
    return breaks, text[breaks] == ord("\n")


def _without(data: bytes, places: NDArray[np.int64], cache: int) -> bytes:
    """`data` without the bytes at some places, which are in order."""
    if not len(places):
        return data
    text, begins = np.frombuffer(data, np.uint8), range(0, len(data), cache)
    bounds = pairwise([*np.searchsorted(places, begins).tolist(), len(places)])
    cuts = zip(begins, bounds, strict=True)
    return b"".join(np.delete(text[k : k + cache], places[a:b] - k).tobytes() for k, (a, b) in cuts)
