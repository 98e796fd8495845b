"""The fast path for events that differ from an earlier one only in wall time, step and float values.

Such an event consists of wall time, an optional step, and a body. The body without its values is a template, learned
from the first event of its kind. The events of a block are compared with all templates at once, word by word. CRC-32C
is linear, so their checksums follow from the template's: each varying byte adds a value from a table, which depends on
the byte and its distance from the end.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from loganalyst.sources.tensorboard import crc32c
from loganalyst.sources.tensorboard.shortrecords import at

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Words = NDArray[np.uint64]

WALL_TIME, STEP = 0x09, 0x10  # the first byte of an event, and of the field behind its wall time
REST = 9  # offset of the bytes behind the wall time
WIDTHS = (32, 64, 256, 1024, 4096)  # bytes: bodies are compared in groups of similar length
WIDEST = WIDTHS[-1]
ALL_TRUE = 0x0101010101010101


class Prefix(NamedTuple):
    """Wall time (0: none) and step of events in the field order that all writers use, and the begin of their bodies.

    `fields` holds the eight bytes behind the wall time; the first `sizes` of them are the step's field. `plain`: which
    events have this order.
    """

    walls: NDArray[np.float64]
    steps: Ints
    fields: Words
    sizes: Ints
    bodies: Ints
    plain: Mask

    def subset(self, events: Ints) -> "Prefix":
        """The prefix of some events."""
        return self if len(events) == len(self.steps) else Prefix._make(column[events] for column in self)


class Found(NamedTuple):
    """The matches: event (position in the call), tag code, value and offset of each float; and which events matched."""

    events: Ints
    codes: Ints
    values: NDArray[np.float32]
    places: Ints
    matched: Mask


def prefix(raw: NDArray[np.uint8], starts: Ints, ends: Ints) -> Prefix:
    """The bytes before the bodies. An event with a negative step, which has more than seven bytes, is not plain."""
    plain = (raw[starts] == WALL_TIME) & (ends - starts > REST)
    walls = at(raw, starts, "<f8", 1)
    if not plain.all():
        walls = np.where(plain, walls, 0.0)
    fields = at(raw, starts, "<u8", REST)
    more = plain & (fields & 0xFF == STEP)
    sizes, steps = more.astype(np.int64), np.zeros(len(starts), np.uint64)
    for i in range(1, 8):
        if not more.any():
            break
        byte = (fields >> np.uint64(8 * i)) & np.uint64(0xFF)
        steps |= ((byte & np.uint64(0x7F)) << np.uint64(7 * i - 7)) * more
        sizes += more
        more = more & (byte >= 0x80)
    bodies = starts + REST + sizes
    plain &= ~more & (bodies < ends)
    return Prefix(walls, steps.view(np.int64), fields, sizes, bodies, plain)


class Templates:
    """The templates of a file, in groups by the length of their bodies."""

    def __init__(self) -> None:
        self.groups = {width: _Group(width) for width in WIDTHS}

    def learn(self, body: bytes, values: Sequence[int], codes: Sequence[int]) -> None:
        """Learn a body whose float32 values are at offsets `values` and belong to the tags of `codes`."""
        if len(body) <= WIDEST:
            self.groups[next(w for w in WIDTHS if len(body) <= w)].learn(body, tuple(values), tuple(codes))

    def match(self, raw: NDArray[np.uint8], starts: Ints, ends: Ints, known: Prefix) -> Found:
        """The events raw[start:end] (each followed by its checksum) that match a template and have the right checksum.

        `raw` must extend at least WIDEST bytes beyond the last end.
        """
        lengths = np.where(known.plain, ends - known.bodies, WIDEST + 1)
        matched = np.zeros(len(starts), np.bool_)
        columns: list[tuple[Ints, Ints, NDArray[np.float32], Ints]] = []
        narrower = 0
        for width, group in self.groups.items():
            mine = np.flatnonzero((lengths > narrower) & (lengths <= width)) if group.known else ()
            narrower = width
            found = group.match(raw, known.bodies[mine], lengths[mine]) if len(mine) else ()
            for place, template in found:
                events = mine[place]
                every = len(events) == len(starts)
                event = (starts, ends, known) if every else (starts[events], ends[events], known.subset(events))
                intact = group.intact(raw, *event, template)
                events = events if intact.all() else events[intact]
                matched[events] = True
                columns += group.values(raw, known.bodies[events], events, template[intact])
        none = np.empty(0, np.int64)
        empty = none, none, np.empty(0, np.float32), none
        return Found._make([*(np.concatenate(column) for column in zip(empty, *columns, strict=True)), matched])


class _Group:
    """Templates whose bodies have at most `width` bytes. A layout is a length with the offsets of the values."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.layouts: dict[tuple[int, tuple[int, ...]], int] = {}
        self.first = np.full(width + 1, -1)  # the first layout of each length
        self.next: list[int] = []  # the next layout of the same length, -1: none
        self.masks: list[Words] = []
        self.known: dict[tuple[int, bytes], tuple[int, ...]] = {}  # (layout, masked body) -> tag codes
        self.arrays: _Arrays | None = None

    def learn(self, body: bytes, values: tuple[int, ...], codes: tuple[int, ...]) -> None:
        layout = self._layout(len(body), values)
        row = np.frombuffer(body.ljust(self.width, b"\0"), np.uint64) & self.masks[layout]
        self.known[layout, row.tobytes()] = codes
        self.arrays = None

    def _layout(self, length: int, values: tuple[int, ...]) -> int:
        key = length, values
        if key not in self.layouts:
            mask = np.zeros(self.width, np.uint8)
            mask[:length] = 0xFF
            mask[np.add.outer(values, range(4))] = 0
            self.masks.append(mask.view(np.uint64))
            self.layouts[key] = len(self.next)
            self.next.append(int(self.first[length]))
            self.first[length] = self.layouts[key]
        return self.layouts[key]

    def _built(self) -> "_Arrays":
        """The templates in order of their hashes."""
        if self.arrays is None:
            words = np.frombuffer(b"".join(row for _, row in self.known), np.uint64).reshape(len(self.known), -1)
            layout = np.array([layout for layout, _ in self.known])
            lengths, places = zip(*self.layouts, strict=True)
            wide = max(map(len, places))
            offsets = np.array([row + (row[0],) * (wide - len(row)) for row in places])
            codes = np.array([row + (-1,) * (wide - len(row)) for row in self.known.values()])
            behind = np.array(lengths)[layout][:, None] - 1 - np.arange(self.width)
            body = words.view(np.uint8).reshape(behind.shape)
            checksums = np.bitwise_xor.reduce(crc32c.added(body, np.maximum(behind, 0)), axis=1)  # zeros add nothing
            hashes = self._hashes(words, layout)
            order = np.argsort(hashes)
            columns = (hashes, words, layout, codes, offsets[layout], checksums)
            sorted_ = [column[order] for column in columns]
            self.arrays = _Arrays._make([*sorted_, np.array(self.masks), np.array(self.next)])
        return self.arrays

    def _hashes(self, words: Words, layout: Ints) -> Words:
        factors = _factors()
        hashes: Words = words @ factors[: self.width // 8] + layout.astype(np.uint64) * factors[-1]
        return hashes

    def match(self, raw: NDArray[np.uint8], bodies: Ints, lengths: Ints) -> Iterator[tuple[Ints, Ints]]:
        """(positions among `bodies`, their templates), for all bodies that match a template."""
        known = self._built()
        rows = at(raw, bodies, f"V{self.width}").view(np.uint64).reshape(len(bodies), -1)
        left, layout = np.arange(len(bodies)), self.first[lengths]
        while True:
            some = layout >= 0
            if not some.all():
                left, layout = left[some], layout[some]
            if not len(left):
                return
            words = (rows if len(left) == len(rows) else rows[left]) & known.masks.take(layout, axis=0)
            template = np.searchsorted(known.hashes, self._hashes(words, layout))
            template = np.minimum(template, len(known.hashes) - 1)
            same = known.words.take(template, axis=0) == words
            fits = _all(same) & (known.layout.take(template) == layout)
            if fits.all():
                yield left, template
                return
            if fits.any():
                yield left[fits], template[fits]
            left, layout = left[~fits], known.next[layout[~fits]]

    def values(
        self, raw: NDArray[np.uint8], bodies: Ints, events: Ints, template: Ints
    ) -> Iterator[tuple[Ints, Ints, NDArray[np.float32], Ints]]:
        """(event, tag code, value, its offset): all first values, then all second values, and so on."""
        known = self._built()
        for code, offset in known.values(template):
            place = bodies + offset
            value, has = at(raw, place, "<f4"), code >= 0
            every = has.all()
            yield (events, code, value, place) if every else (events[has], code[has], value[has], place[has])

    def intact(self, raw: NDArray[np.uint8], starts: Ints, ends: Ints, known: Prefix, template: Ints) -> Mask:
        """Whether the stored checksum is that of the template with the event's own bytes."""
        arrays = self._built()
        states = crc32c.States(ends - starts)
        states.add(raw[starts][:, None], 0)
        states.add(known.walls[:, None].view(np.uint8), 1)
        fields = known.fields[:, None].view(np.uint8)
        for i in range(int(known.sizes.max(initial=0))):
            states.add(fields[:, i : i + 1], REST + i, known.sizes > i)
        for code, offset in arrays.values(template):
            place = known.bodies + offset
            states.add(at(raw, place, "<u4")[:, None].view(np.uint8), place - starts, code >= 0)
        fits: Mask = states.masked(arrays.checksums[template]) == at(raw, ends, "<u4")
        return fits


@cache
def _factors() -> Words:
    """Odd numbers that make a hash of words. Every start imports this module, and numpy's generators take 12 ms."""
    return np.random.default_rng(0).integers(0, 2**64, WIDEST // 8, np.uint64) | np.uint64(1)


def _all(true: Mask) -> Mask:
    """Whether all items of a row are true. Rows have 4 or a multiple of 8 items, and are compared as integers."""
    kind = np.uint32 if true.shape[1] == 4 else np.uint64
    whole = true.view(kind) == kind(ALL_TRUE & np.iinfo(kind).max)
    every: Mask = whole[:, 0] if whole.shape[1] == 1 else whole.all(axis=1)
    return every


class _Arrays(NamedTuple):
    """All templates and layouts as arrays.

    Of each template: hash, masked words, layout, tag codes (-1: fewer values), offsets of the values, and the checksum
    of the body without them. Of each layout: mask, and the next layout of the same length.
    """

    hashes: Words
    words: Words
    layout: Ints
    codes: Ints
    offsets: Ints
    checksums: NDArray[np.uint32]
    masks: Words
    next: Ints

    def values(self, template: Ints) -> Iterator[tuple[Ints, Ints]]:
        """The code and offset of the first value of each event's template, then of the second values, and so on."""
        for code, offset in zip(self.codes.T, self.offsets.T, strict=True):
            yield code.take(template), offset.take(template)
