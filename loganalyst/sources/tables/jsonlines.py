"""Lines of JSON of which most share one schema: msgspec decodes them in bulk.

The schema is learned anew for each block, so that a block gives the same rows wherever reading stopped before. It
comes from the first line and from lines that did not fit. Lines that still do not fit are left to the parser.
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
    NotUniformError,
    Object,
    absent,
    columns,
    kind_of,
    merged,
    struct,
)
from loganalyst.sources.tables.jsonshape import parse_json

MIN_LINES = 32  # of a block; with fewer the parser is as fast
MAX_CHUNK_LINES = 2048  # decoded at once
_CHUNK_CELLS = 1 << 14  # values decoded at once; they fit into a processor's cache
_MAX_LINES_LEARNED = 64  # of the lines in a chunk that did not fit
_MAX_RELEARNED = 8  # times that the schema of a block may grow
_MAX_ROW_CELLS = 2000  # msgspec searches all fields for a key that is out of order
_ERRORS = (msgspec.MsgspecError, RecursionError)

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Lines:
    """The bytes of a block (UTF-8), and where each line begins and ends."""

    data: bytes
    begins: Ints
    ends: Ints

    @classmethod
    def split(cls, data: bytes) -> "Lines":
        """Find the lines of a block."""
        breaks = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n"))
        ends = breaks if data.endswith(b"\n") else np.append(breaks, len(data))
        return cls(data, np.append(0, ends[:-1] + 1), ends)

    def __len__(self) -> int:
        return len(self.ends)

    def line(self, nth: int) -> bytes:
        """One line, without its line break."""
        return self.data[self.begins[nth] : self.ends[nth]]

    def span(self, begin: int, end: int) -> memoryview:
        """The bytes of the lines from `begin` up to `end`."""
        return memoryview(self.data)[self.begins[begin] : self.ends[end - 1]]

    @cached_property
    def braced(self) -> Mask:
        """Which lines begin with ``{`` and end with ``}``, so that no value continues in the next line."""
        codes = np.frombuffer(self.data, np.uint8)
        braced: Mask = (codes[self.begins] == ord("{")) & (codes[self.ends - 1] == ord("}"))
        return braced


class Wide(msgspec.Struct, frozen=True):
    """The lines that were decoded in bulk.

    `rows`: their positions in the block. `columns`: Float64, or String for the columns that `is_text_column` names.
    `settings`: the position and content of the first `config` object.
    """

    rows: Ints
    columns: Mapping[str, pl.Series]
    settings: tuple[int, Mapping[str, Any]] | None = None


class _Reading:
    """The schema of a block, as far as it has been learned."""

    def __init__(self, lines: Lines, chunk_lines: int) -> None:
        self.lines = self.original = lines
        self.chunk_lines = chunk_lines
        # the limit of cells in a row: with more than the lines have bytes for, bulk decoding is slower than the parser
        self.room = min(_MAX_ROW_CELLS, len(lines.data) // len(lines) // 2)
        self.words: Ints | None = None  # bare NaN and Infinity in each line
        self.settings: tuple[int, Mapping[str, Any]] | None = None
        self.times = 0
        self._know(Object())

    def _know(self, kind: Object) -> None:
        self.kind, self.decoder = kind, _decoder(kind)
        self.size = min(self.chunk_lines, _CHUNK_CELLS // kind.size + 1)  # lines to decode at once

    def learn(self, places: Sequence[int]) -> bool:
        """Learn from some lines. Returns whether the schema or the data changed, so that decoding again may help."""
        before = self.kind, self.lines
        for nth in places:
            line = self.original.line(nth)
            if self.words is None and jsonnonfinite.contains_words(line):
                data, self.words = jsonnonfinite.with_placeholders(self.lines.data, self.lines.ends)
                self.lines = replace(self.lines, data=data)
            record = parse_json(line.decode())
            if isinstance(record, dict):
                self._grow(record, nth)
        return before[0] != self.kind or before[1] is not self.lines

    def _grow(self, record: Mapping[str, Any], nth: int) -> None:
        try:
            kind = merged(self.kind, kind_of(record))
            if isinstance(kind, Object) and kind.size <= self.room:
                self._know(kind)
                self.settings = self.settings or ((nth, record["config"]) if "config" in record else None)
        except NotUniformError:
            pass

    def chunk(self, begin: int, end: int) -> tuple[list[Any], list[int]]:
        """The rows of some lines, and the positions of the lines that could not be decoded."""
        while True:
            rows, odd = _decoded(self.decoder, self.lines, begin, end)
            if not odd or self.times == _MAX_RELEARNED or not self.learn(odd[:_MAX_LINES_LEARNED]):
                return rows, odd
            self.times += 1


def read(lines: Lines, *, min_lines: int = MIN_LINES, chunk_lines: int = MAX_CHUNK_LINES) -> tuple[Wide | None, Ints]:
    """Decode most lines of a block. Returns them and the positions of the lines left to the parser."""
    every = np.arange(len(lines))
    if len(lines) < min_lines:
        return None, every
    reading, left = _Reading(lines, chunk_lines), np.zeros(len(lines), np.bool_)
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
    except NotUniformError:
        return None, every
    if left.all():
        return None, every
    found = dict(_joined(chunks))
    if reading.words is not None:
        numbers = [column for column in found.values() if not isinstance(column, list)]
        if sum(map(jsonnonfinite.restore_values, numbers)) != reading.words[~left].sum():
            return None, every
    filled = {name: series for name, column in found.items() if (series := _series(column)).count()}
    return Wide(every[~left], filled, reading.settings), every[left]


@lru_cache(64)
def _decoder(kind: Object) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(struct(kind))


def _decoded(decoder: msgspec.json.Decoder[Any], lines: Lines, begin: int, end: int) -> tuple[list[Any], list[int]]:
    content = lines.span(begin, end)
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
            rows.extend(map(decoder.decode, each))  # keeps the rows before a line that fails
        except _ERRORS:
            odd.append(begin + len(rows) + len(odd))
    return rows, odd


def _columns(kind: Object, rows: Sequence[Any]) -> dict[str, Column]:
    found: dict[str, Column] = {}
    for name, column in columns(kind, rows):
        if name in found:  # two values for one name: {"a": {"b": 1}, "a/b": 2}
            raise NotUniformError
        found[name] = column
    return found


def _joined(chunks: Sequence[tuple[int, Mapping[str, Column]]]) -> Iterator[tuple[str, Column]]:
    """The columns of all chunks, one below the other; ABSENT or None where a chunk has no such column."""
    for name in {name: None for _, contains_words in chunks for name in contains_words}:
        parts = [contains_words.get(name, height) for height, contains_words in chunks]
        if any(isinstance(part, list) for part in parts):
            yield name, [cell for part in parts for cell in ([None] * part if isinstance(part, int) else part)]
        else:
            yield name, np.concatenate([np.full(part, ABSENT) if isinstance(part, int) else part for part in parts])


def _series(column: Column) -> pl.Series:
    if isinstance(column, list):
        return pl.Series(column, dtype=pl.String)
    missing = absent(column)
    return pl.Series(column).set(pl.Series(missing), None) if missing.any() else pl.Series(column)
