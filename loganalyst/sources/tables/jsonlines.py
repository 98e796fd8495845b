"""Lines of JSON, most of which hold the same names and types: read by msgspec, at once.

What they hold is learned, block by block, from the first line and from those that do not fit it; what then does not fit
is left to the parser. So a block gives the same wherever reading stopped before.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import polars as pl

from loganalyst.sources.tables import jsonnonfinite
from loganalyst.sources.tables.jsonkinds import (
    ABSENT,
    Column,
    Object,
    OddError,
    absent,
    columns,
    kind_of,
    merged,
    struct,
)
from loganalyst.sources.tables.jsonshape import loaded

FEWEST = 32  # lines; with less the parser is as fast
_CHUNK, _CELLS = 2048, 1 << 14  # lines, and values in them that fit into a processor's cache
_MOST_LEARNED = 64  # lines of a chunk that something is learned from
_MOST_TIMES = 8  # that a kind grows in a block
_MOST_CELLS = 2000  # of a row: msgspec looks for a key that is out of order among all
_ERRORS = (msgspec.MsgspecError, RecursionError)

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Lines:
    """The bytes of a block (UTF-8) and where its lines are."""

    data: bytes
    begins: Ints
    ends: Ints

    @classmethod
    def of(cls, data: bytes) -> "Lines":
        """The lines of a block."""
        breaks = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n"))
        ends = breaks if data.endswith(b"\n") else np.append(breaks, len(data))
        return cls(data, np.append(0, ends[:-1] + 1), ends)

    def __len__(self) -> int:
        return len(self.ends)

    def line(self, nth: int) -> bytes:
        """A line without its end."""
        return self.data[self.begins[nth] : self.ends[nth]]

    def some(self, begin: int, end: int) -> memoryview:
        """The lines from `begin` to before `end`, as they stand."""
        return memoryview(self.data)[self.begins[begin] : self.ends[end - 1]]

    @cached_property
    def braced(self) -> Mask:
        """Which lines begin with ``{`` and end with ``}``: no JSON value holds a line break between these two."""
        codes = np.frombuffer(self.data, np.uint8)
        braced: Mask = (codes[self.begins] == ord("{")) & (codes[self.ends - 1] == ord("}"))
        return braced


@dataclass(frozen=True)
class Wide:
    """Lines that were read at once: their places among the lines of a block; columns of Float64 or, where they say
    something, of texts; the settings among them that come first, and their line.
    """

    rows: Ints
    columns: Mapping[str, pl.Series]
    settings: tuple[int, Mapping[str, Any]] | None = None


class _Reading:
    """What is known of a block's lines as they go by."""

    def __init__(self, lines: Lines) -> None:
        self.lines = self.original = lines
        # cells of a row: more than lines have bytes for would cost more than the parser
        self.room = min(_MOST_CELLS, len(lines.data) // len(lines) // 2)
        self.words: Ints | None = None  # of each line, that numbers took the place of
        self.settings: tuple[int, Mapping[str, Any]] | None = None
        self.times = 0
        self._know(Object())

    def _know(self, kind: Object) -> None:
        self.kind, self.decoder = kind, _decoder(kind)
        self.size = min(_CHUNK, _CELLS // kind.size + 1)  # how many lines to read at once

    def learn(self, places: Sequence[int]) -> bool:
        """Whether there is now more that can be read of some lines."""
        before = self.kind, self.lines
        for nth in places:
            line = self.original.line(nth)
            if self.words is None and jsonnonfinite.held(line):
                data, self.words = jsonnonfinite.replaced(self.lines.data, self.lines.ends)
                self.lines = replace(self.lines, data=data)
            record = loaded(line.decode())
            if isinstance(record, dict):
                self._grow(record, nth)
        return before[0] != self.kind or before[1] is not self.lines

    def _grow(self, record: Mapping[str, Any], nth: int) -> None:
        try:
            kind = merged(self.kind, kind_of(record))
            if isinstance(kind, Object) and kind.size <= self.room:
                self._know(kind)
                self.settings = self.settings or ((nth, record["config"]) if "config" in record else None)
        except OddError:
            pass

    def chunk(self, begin: int, end: int) -> tuple[list[Any], list[int]]:
        """Some lines' rows, and the places of the lines that could not be read."""
        while True:
            rows, odd = _decoded(self.decoder, self.lines, begin, end)
            if not odd or self.times == _MOST_TIMES or not self.learn(odd[:_MOST_LEARNED]):
                return rows, odd
            self.times += 1


def read(lines: Lines) -> tuple[Wide | None, Ints]:
    """Most lines of a block, and the places of those that are left."""
    every = np.arange(len(lines))
    if len(lines) < FEWEST:
        return None, every
    reading, left = _Reading(lines), np.zeros(len(lines), np.bool_)
    reading.learn([0])
    chunks: list[tuple[int, dict[str, Column]]] = []
    try:
        end = 0
        while end < len(lines):
            begin, end = end, min(end + reading.size, len(lines))
            rows, odd = reading.chunk(begin, end)
            left[odd] = True
            chunks.append((len(rows), _columns(reading.kind, rows)))
            if 2 * len(odd) > end - begin:
                left[end:] = True
                break
    except OddError:
        return None, every
    if left.all():
        return None, every
    found = dict(_joined(chunks))
    if reading.words is not None:
        numbers = [column for column in found.values() if not isinstance(column, list)]
        if sum(map(jsonnonfinite.restored, numbers)) != reading.words[~left].sum():
            return None, every
    filled = {name: series for name, column in found.items() if (series := _series(column)).count()}
    return Wide(every[~left], filled, reading.settings), every[left]


@lru_cache(64)
def _decoder(kind: Object) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(struct(kind))


def _decoded(decoder: msgspec.json.Decoder[Any], lines: Lines, begin: int, end: int) -> tuple[list[Any], list[int]]:
    content = lines.some(begin, end)
    if lines.braced[begin:end].all():
        try:
            rows = decoder.decode_lines(content)
            if len(rows) == end - begin:
                return rows, []
        except _ERRORS:
            pass
    rows = list[Any]()
    odd: list[int] = []
    each = iter(bytes(content).split(b"\n"))
    while len(rows) + len(odd) < end - begin:
        try:
            rows.extend(map(decoder.decode, each))  # keeps those before one that fails
        except _ERRORS:
            odd.append(begin + len(rows) + len(odd))
    return rows, odd


def _columns(kind: Object, rows: Sequence[Any]) -> dict[str, Column]:
    found: dict[str, Column] = {}
    for name, column in columns(kind, rows):
        if name in found:  # {"a": {"b": 1}, "a/b": 2}
            raise OddError
        found[name] = column
    return found


def _joined(chunks: Sequence[tuple[int, Mapping[str, Column]]]) -> Iterator[tuple[str, Column]]:
    """The columns of all chunks."""
    for name in {name: None for _, held in chunks for name in held}:
        parts = [held.get(name, height) for height, held in chunks]
        if any(isinstance(part, list) for part in parts):
            yield name, [cell for part in parts for cell in ([None] * part if isinstance(part, int) else part)]
        else:
            yield name, np.concatenate([np.full(part, ABSENT) if isinstance(part, int) else part for part in parts])


def _series(column: Column) -> pl.Series:
    if isinstance(column, list):
        return pl.Series(column, dtype=pl.String)
    missing = absent(column)
    return pl.Series(column).set(pl.Series(missing), None) if missing.any() else pl.Series(column)
