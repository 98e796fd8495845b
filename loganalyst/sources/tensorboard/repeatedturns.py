"""The fast path for training loops, which log the same tags in the same order in each turn.

As long as lengths do not change, a turn is a row of bytes that differs from the last one only in wall times, steps,
values and checksums. So a block is treated as a table of turns: one comparison verifies framing and messages, and the
varying bytes are gathered column by column.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from loganalyst.sources.tensorboard import crc32c
from loganalyst.sources.tensorboard.shortrecords import FRAME, HEADER
from loganalyst.sources.tensorboard.templates import REST, Ints

MAX_TURN = 1 << 18  # bytes
MIN_TURNS = 8  # with fewer, records are matched one by one
MAX_TRIES = 4  # a tag may occur more than once in a turn
INSIDE = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)  # masks of the first n bytes of a word
PIECE = 1 << 17  # bytes compared at once; they stay in the processor's cache


class Turns(NamedTuple):
    """The scalars of the turns taken: tag codes, steps, wall times and values; `size` is in bytes.

    They are ordered tag after tag, or turn after turn if a tag occurs twice in a turn.
    """

    codes: Ints
    steps: Ints
    walls: NDArray[np.float64]
    values: NDArray[np.float32]
    size: int


class Records(NamedTuple):
    """Records of a block: offsets of payloads and values, and the code of each tag.

    `steps`: bytes of each event's step field with its key (0: no step). `values`: offset of the float32 (-1: not an
    event with one float).
    """

    starts: Ints
    ends: Ints
    steps: Ints
    values: Ints
    codes: Ints

    def last(self, count: int, skipped: int = 0) -> "Records":
        """The last `count` records before the last `skipped`."""
        end = len(self.starts) - skipped
        return Records._make(column[end - count : end] for column in self)

    def moved(self, by: int) -> "Records":
        """The same records in data that begin `by` bytes later."""
        return self._replace(starts=self.starts - by, ends=self.ends - by, values=self.values - by)


class Period:
    """One turn: P records as last seen in a file. Offsets count from the first byte of the turn."""

    def __init__(self, turn: bytes, records: Records, piece: int) -> None:
        self.size = len(turn)
        self.starts, self.ends, steps, self.values, self.codes = starts, ends, _, values, _ = records
        self.repeats = len(np.unique(self.codes)) < len(self.codes)
        self.named = np.empty(0, np.int64)
        self.places = np.stack([starts + 1, starts + REST + 1, values, ends], axis=1)
        self.width = max(int(steps.max(initial=0)) - 1, 0)  # bytes of the longest step, without the field's key
        self.field = np.dtype(f"<u{next(size for size in (1, 2, 4, 8) if size >= self.width)}")
        self.inside = INSIDE[np.maximum(steps - 1, 0), None].astype(self.field)
        self.mask = np.full(self.size, 0xFF, np.uint8)
        for places, count in ((starts + 1, 8), (values, 4), (ends, 4)):
            self.mask[np.add.outer(places, np.arange(count))] = 0
        for i in range(1, int(steps.max(initial=0))):
            self.mask[(starts + REST + i)[steps > i]] = 0x80  # the continuation bit of a varint must not change
        fixed = np.frombuffer(turn, np.uint8) & self.mask
        self.piece = max(1, piece // self.size)  # turns compared at once
        self.fixed, self.masks = fixed.tobytes() * self.piece, np.tile(self.mask, self.piece)
        self.found = bytearray(len(self.fixed))  # scratch space for masked data, which is compared with `fixed`
        bare = np.where(self.mask == 0xFF, fixed, 0).astype(np.uint8)
        self.states = crc32c.states(bare, starts, ends)

    def take(self, raw: NDArray[np.uint8], at: int, size: int) -> Turns | None:
        """The consecutive intact turns in raw[at:size]; None if there are fewer than MIN_TURNS."""
        count = self._alike(raw, at, (size - at) // self.size)
        if count < MIN_TURNS:
            return None
        walls, fields, values, stored = self._columns(raw, at, count)
        intact = (self._checksums(walls, fields, values) == stored).all(axis=0)
        if not intact.all():
            count = int(intact.argmin())
            walls, fields, values = walls[:, :count], fields[:, :count], values[:, :count]
        columns = [self._steps(fields), walls, values]
        if self.repeats:
            columns = [column.T for column in columns]
        return Turns._make([self._codes(count), *(column.reshape(-1) for column in columns), count * self.size])

    def _codes(self, count: int) -> Ints:
        """The tag codes of `count` turns; the same array again for the same count."""
        if len(self.named) != count * len(self.codes):
            self.named = np.tile(self.codes, count) if self.repeats else np.repeat(self.codes, count)
        return self.named

    def _steps(self, fields: NDArray[Any]) -> Ints:
        """The values of varints."""
        steps = np.zeros_like(fields)
        for i in range(self.width):
            steps |= (fields & fields.dtype.type(0x7F << 8 * i)) >> fields.dtype.type(i)
        return steps.astype(np.int64)

    def _alike(self, raw: NDArray[np.uint8], at: int, limit: int) -> int:
        """The number of turns from `at` on (at most `limit`) that differ from this one only in the varying bytes."""
        end = at + limit * self.size
        for begin in range(at, end, len(self.fixed)):
            size = min(len(self.fixed), end - begin)
            found = np.frombuffer(self.found, np.uint8, size)
            np.bitwise_and(raw[begin : begin + size], self.masks[:size], out=found)
            if (self.found if size == len(self.fixed) else self.found[:size]) != self.fixed[:size]:
                same = found == np.frombuffer(self.fixed, np.uint8, size)
                return (begin - at + int(same.argmin())) // self.size
        return limit

    def _columns(self, raw: NDArray[np.uint8], at: int, count: int) -> list[NDArray[Any]]:
        """(P, count) each: wall times, step fields, values and stored checksums of `count` turns.

        The fields of a record are gathered together, since they are adjacent in memory.
        """
        out = [np.empty((len(self.starts), count), kind) for kind in ("<f8", self.field, "<f4", "<u4")]
        for i, places in enumerate((self.places + at).tolist()):
            for column, place in zip(out, places, strict=True):
                column[i] = np.ndarray((count,), column.dtype, raw, place, (self.size,))
        out[1] &= self.inside
        return out

    def _checksums(
        self, walls: NDArray[np.float64], fields: NDArray[Any], values: NDArray[np.float32]
    ) -> crc32c.Checksums:
        """(P, count): the masked checksums that the records should have."""
        states = np.repeat(self.states[:, None], walls.shape[1], axis=1)
        behind = self.ends - self.starts - 2
        crc32c.add(states, walls.view(np.uint64), 8, behind)
        crc32c.add(states, fields, self.width, behind - REST)
        crc32c.add(states, values.view(np.uint32), 4, self.ends - self.values - 1)
        return crc32c.masked_states(states)


def find(data: bytearray, records: Records, piece: int = PIECE) -> Period | None:
    """The turn at the end of a block, if the same tags were logged in the same order twice."""
    lengths = records.ends - records.starts
    same = (records.codes == records.codes[-1:]) & (lengths == lengths[-1:])
    for before in np.flatnonzero(same[:-1])[::-1][:MAX_TRIES].tolist():
        count = len(lengths) - 1 - before
        if 2 * count > len(lengths):
            return None
        turn, earlier = records.last(count), records.last(count, skipped=count)
        begin, end = int(turn.starts[0]) - HEADER, int(turn.ends[-1]) + FRAME - HEADER
        if end - begin <= MAX_TURN and (turn.values >= 0).all() and _alike(turn, earlier):
            return Period(bytes(data[begin:end]), turn.moved(begin), piece)
    return None


def _alike(turn: Records, earlier: Records) -> bool:
    """Whether tags and sizes equal those of the earlier turn, and the records are contiguous."""
    same = (turn.codes == earlier.codes) & (turn.steps == earlier.steps)
    same &= turn.ends - turn.starts == earlier.ends - earlier.starts
    return bool(same.all() and (turn.starts[1:] == turn.ends[:-1] + FRAME).all())
