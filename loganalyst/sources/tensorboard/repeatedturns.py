"""Records of a training loop, which logs the same tags in the same order: compared with those of the turn before, many
turns at once.

As long as lengths do not change a turn is a row of bytes that differs from the last in wall times, steps, values and
checksums only. So a block is looked at as a table of turns, its framing and messages are proved by one comparison, and
what varies is gathered column by column.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from loganalyst.sources.tensorboard import crc32c
from loganalyst.sources.tensorboard.shortrecords import FRAME, HEADER
from loganalyst.sources.tensorboard.templates import REST, Ints

LONGEST = 1 << 18  # bytes of a turn
FEWEST = 8  # turns below which the way of single records is taken
TRIES = 4  # a tag may stand more than once in a turn
INSIDE = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)  # the first n bytes of a word
PIECE = 1 << 17  # bytes compared at once: what is compared stays in the processor's cache


class Turns(NamedTuple):
    """Scalars of the turns that were taken, tag after tag (turn after turn where one stands twice in a turn): tag
    codes, steps, wall times and values; how many bytes.
    """

    codes: Ints
    steps: Ints
    walls: NDArray[np.float64]
    values: NDArray[np.float32]
    size: int


class Records(NamedTuple):
    """Where payloads start and end, how many bytes each event's step has with its key (0: no step), where its float32
    stands (-1: it is no event with one float) and its tag's code.
    """

    starts: Ints
    ends: Ints
    steps: Ints
    values: Ints
    codes: Ints

    def last(self, count: int, skipped: int = 0) -> "Records":
        """The last `count` but `skipped`."""
        end = len(self.starts) - skipped
        return Records._make(column[end - count : end] for column in self)

    def moved(self, by: int) -> "Records":
        """The same records in data that begins so many bytes later."""
        return self._replace(starts=self.starts - by, ends=self.ends - by, values=self.values - by)


class Period:
    """One turn: P records as they last stood in a file. Offsets count from the turn's first byte."""

    def __init__(self, turn: bytes, records: Records) -> None:
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
            self.mask[(starts + REST + i)[steps > i]] = 0x80  # whether the field goes on
        fixed = np.frombuffer(turn, np.uint8) & self.mask
        self.piece = max(1, PIECE // self.size)  # turns compared at once
        self.fixed, self.masks = fixed.tobytes() * self.piece, np.tile(self.mask, self.piece)
        self.found = bytearray(len(self.fixed))  # where `fixed` is looked for
        bare = np.where(self.mask == 0xFF, fixed, 0).astype(np.uint8)
        self.states = crc32c.states(bare, starts, ends)

    def take(self, raw: NDArray[np.uint8], at: int, size: int) -> Turns | None:
        """The intact turns that follow one another in raw[at:size]; None where they are few."""
        count = self._alike(raw, at, (size - at) // self.size)
        if count < FEWEST:
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
        """The tags of so many turns; the same array as long as they are as many."""
        if len(self.named) != count * len(self.codes):
            self.named = np.tile(self.codes, count) if self.repeats else np.repeat(self.codes, count)
        return self.named

    def _steps(self, fields: NDArray[Any]) -> Ints:
        """The numbers that varints hold."""
        steps = np.zeros_like(fields)
        for i in range(self.width):
            steps |= (fields & fields.dtype.type(0x7F << 8 * i)) >> fields.dtype.type(i)
        return steps.astype(np.int64)

    def _alike(self, raw: NDArray[np.uint8], at: int, most: int) -> int:
        """How many turns from `at` on differ from the known one only where they may."""
        end = at + most * self.size
        for begin in range(at, end, len(self.fixed)):
            size = min(len(self.fixed), end - begin)
            found = np.frombuffer(self.found, np.uint8, size)
            np.bitwise_and(raw[begin : begin + size], self.masks[:size], out=found)
            if (self.found if size == len(self.fixed) else self.found[:size]) != self.fixed[:size]:
                same = found == np.frombuffer(self.fixed, np.uint8, size)
                return (begin - at + int(same.argmin())) // self.size
        return most

    def _columns(self, raw: NDArray[np.uint8], at: int, count: int) -> list[NDArray[Any]]:
        """(P, count) each: wall times, bytes of the step, values and stored checksums of so many turns.

        Those of a record are taken together, for they stand side by side in memory.
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


def find(data: bytearray, records: Records) -> Period | None:
    """The turn that the last records of a block make, if they were logged in the same order twice."""
    lengths = records.ends - records.starts
    same = (records.codes == records.codes[-1:]) & (lengths == lengths[-1:])
    for before in np.flatnonzero(same[:-1])[::-1][:TRIES].tolist():
        count = len(lengths) - 1 - before
        if 2 * count > len(lengths):
            return None
        turn, earlier = records.last(count), records.last(count, skipped=count)
        begin, end = int(turn.starts[0]) - HEADER, int(turn.ends[-1]) + FRAME - HEADER
        if end - begin <= LONGEST and (turn.values >= 0).all() and _alike(turn, earlier):
            return Period(bytes(data[begin:end]), turn.moved(begin))
    return None


def _alike(turn: Records, earlier: Records) -> bool:
    """Whether tags and sizes are those of the turn before, and the records stand one behind the other."""
    same = (turn.codes == earlier.codes) & (turn.steps == earlier.steps)
    same &= turn.ends - turn.starts == earlier.ends - earlier.starts
    return bool(same.all() and (turn.starts[1:] == turn.ends[:-1] + FRAME).all())
