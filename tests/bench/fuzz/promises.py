"""What must hold of a mutant's tables, whatever was done to the file.

Every format: no exception; all tables in their schemas; gaps lie inside the file.

Event files, .wandb (all bytes stand under checksums): a record of a seed is *there* where its bytes stand in the
mutant. Every number read is one of a record that is there, as often as that is; every record that is there is read, but
for those that cannot be told apart: in event files one inside the payload of a damaged record whose length is proved by
what stands behind it, or one whose first byte is the last of the record before (equal bytes of which one is gone); in
.wandb a fragment over the border of a 32 KiB block, or a file in which the beginning of one record meets the end of
another (each proves itself, the record they make does not).

Lines (CSV, JSON lines, text, MLflow's metrics): a line of the seed that stands in the mutant gives the same rows
there if the first three lines are the seed's, at most a tenth of all lines is none of the seed's, all steps and epochs
are some of the seed's, and nothing was added that makes another file of it (quotes, carriage returns, NULs, much text).
Rows are told by the number of their line. Job logs tell a line that is said again (the same numbers, whatever their
spelling) once, so there it may give nothing.

Packed: what a plain decoder makes of the bytes before the first changed one is there; content that is not the seed's is
told as a gap.
"""

import io
import json
import math
import re
import struct
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from typing import NamedTuple, Protocol

import numpy as np

from loganalyst.model import SCHEMAS, Tables
from tests.bench.fuzz.blocks import BLOCK, FULL, HEADER, LAST, fragments, taken_apart
from tests.bench.fuzz.seeds import Seed

Row = tuple[object, ...]


class Fault(NamedTuple):
    """What is wrong with a reading: `kind` is a column of the harness's table."""

    kind: str
    what: str


class Promise(Protocol):
    """Looks at the tables of a mutant of `seed`."""

    def __call__(self, tables: Tables, data: bytes, seed: Seed) -> Iterator[Fault]: ...


def sound(tables: Tables, size: int) -> Iterator[Fault]:
    """What every reader promises, for a file of `size` bytes."""
    for field in fields(Tables):
        frame = getattr(tables, field.name)
        if frame.schema != SCHEMAS[field.name]:
            yield Fault("wrong", f"{field.name} has the schema {frame.schema}")
    for _, offset, length, why in tables.gaps.iter_rows():
        if not 0 <= (offset or 0) <= (offset or 0) + (length or 0) <= size:
            yield Fault("wrong", f"a gap outside the file of {size} bytes: {offset} + {length} ({why})")
    if tables.points["session"].null_count() or tables.points["metric"].null_count():
        yield Fault("wrong", "a point without session or metric")


def nothing_more(tables: Tables, data: bytes, seed: Seed) -> Iterator[Fault]:
    """Formats without checksums whose parts depend on one another."""
    return iter(())


def _number(value: float | None) -> object:
    return "nan" if value is not None and math.isnan(value) else value


def _points(tables: Tables) -> Counter[Row]:
    rows = zip(*(tables.points[c].to_list() for c in ("metric", "step", "value")), strict=True)
    return Counter((metric, step, _number(value)) for metric, step, value in rows)


def _compared(got: Counter[Row], must: Counter[Row], may: Counter[Row]) -> Iterator[Fault]:
    if wrong := got - may:
        yield Fault("wrong", f"{wrong.total()} rows that no intact record holds: {list(wrong)[:3]}")
    if lost := must - got:
        yield Fault("lost", f"{lost.total()} rows of intact records: {list(lost)[:3]}")


# --- event files


class Events:
    """The promise for event files; a record is told by its first 20 bytes (length, checksum, key and wall time)."""

    def __init__(self, seeds: Sequence[Seed]) -> None:
        self.records: dict[bytes, tuple[bytes, list[Row]]] = {}
        self.headers: set[bytes] = set()
        for seed in seeds:
            at = 0
            while at < len(seed.data):
                (length,) = struct.unpack_from("<Q", seed.data, at)
                frame = seed.data[at : at + length + 16]
                self.records[frame[:20]] = frame, self._rows(frame[12:-4])
                self.headers.add(frame[:12])
                at += length + 16

    @staticmethod
    def _rows(payload: bytes) -> list[Row]:
        """What TensorBoard's own messages make of an event."""
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.util.tensor_util import make_ndarray

        event, rows = Event.FromString(payload), []
        for value in event.summary.value:
            kind = value.WhichOneof("value")
            if kind == "simple_value":
                rows.append((value.tag, event.step, _number(value.simple_value)))
            elif kind == "histo":
                rows.append(("histogram", value.tag, event.step, value.histo.num))
            elif value.metadata.plugin_data.plugin_name == "scalars":
                rows.append((value.tag, event.step, _number(float(make_ndarray(value.tensor)))))
        return rows

    def __call__(self, tables: Tables, data: bytes, seed: Seed) -> Iterator[Fault]:
        dist = tables.distributions
        got = _points(tables)
        got.update(("histogram", *row) for row in dist.select("metric", "step", "count").iter_rows())
        must, may, behind, taken = Counter[Row](), Counter[Row](), 0, 0
        for at, end, rows in self._there(data):
            if rows is None:
                behind = max(behind, end)
                continue
            may.update(rows)
            if at >= max(behind, taken):
                must.update(rows)
                taken = end
        yield from _compared(got, must, may)

    def _there(self, data: bytes) -> Iterator[tuple[int, int, list[Row] | None]]:
        """(begin, end, rows) of the records in the file; without rows: damaged ones whose length seems right."""
        lengths = np.ndarray((max(len(data) - 7, 0),), "<u8", data, 0, (1,))
        for at in np.flatnonzero(lengths < 1 << 20).tolist():
            frame, rows = self.records.get(data[at : at + 20], (b"", []))
            if frame and data.startswith(frame, at):
                yield at, at + len(frame), rows
            elif data[at : at + 12] in self.headers:
                end = at + int(lengths[at]) + 16
                if end == len(data) or data[end : end + 12] in self.headers:
                    yield at, end, None


# --- .wandb


class Blocks:
    """The promise for .wandb files; a fragment is told by its header."""

    def __init__(self, seeds: Sequence[Seed]) -> None:
        self.records: dict[bytes, list[tuple[bytes, int, list[Row]]]] = defaultdict(list)
        self.parts: dict[bytes, Part] = {}
        self.summary: set[tuple[object, object]] = set()
        for seed in seeds:
            at = len(HEADER)
            for framed, record in taken_apart(seed.data):
                at = seed.data.index(framed, at)
                known = framed, at % BLOCK if framed[6] != FULL else 0, self._rows(record)
                if known not in self.records[framed[:7]]:
                    self.records[framed[:7]].append(known)
                parts = fragments(framed, at) if framed[6] != FULL else []
                self.parts |= {part[:7]: Part(record, i, part) for i, part in enumerate(parts)}
                at += len(framed)

    def _rows(self, record: bytes) -> list[Row]:
        """What W&B's own messages make of a record."""
        from wandb.proto.wandb_internal_pb2 import Record

        told = Record.FromString(record)
        kind = told.WhichOneof("record_type")
        if kind == "stats":
            return [(f"system/{i.key}", None, float(i.value_json)) for i in told.stats.item]
        if kind == "summary":
            self.summary |= {(".".join(i.nested_key), float(i.value_json)) for i in told.summary.update}
        if kind != "history":
            return []
        row = {".".join(i.nested_key): json.loads(i.value_json) for i in told.history.item}
        given = {key: value for key, value in row.items() if key[0] != "_" and isinstance(value, float | int)}
        return [(key, row["_step"], _number(float(value))) for key, value in given.items()]

    def __call__(self, tables: Tables, data: bytes, seed: Seed) -> Iterator[Fault]:
        must, may = Counter[Row](), Counter[Row]()
        kinds = np.frombuffer(data, np.uint8)[6:]
        begun: Part | None = None  # the last fragment of a record that goes on
        for at in np.flatnonzero((kinds >= FULL) & (kinds <= LAST)).tolist():
            for framed, place, rows in self.records.get(data[at : at + 7], ()):
                if data.startswith(framed, at):
                    may.update(rows)
                    whole = at % BLOCK + len(framed) <= BLOCK if framed[6] == FULL else at % BLOCK == place
                    must.update(rows if whole and at >= len(HEADER) else [])
            part = self.parts.get(data[at : at + 7])
            if part and data.startswith(part.framed, at):
                if part.place and begun and (part.record, part.place) != (begun.record, begun.place + 1):
                    return  # parts of two records that make one which no checksum denies
                if part.place and begun and part.framed[6] == LAST:
                    may |= Counter(self._rows(part.record))  # moved by less than a header, so that padding begins later
                begun = part if part.framed[6] != LAST else None
        got = _points(tables)
        for row in list(got - may):
            if (row[0], row[2]) in self.summary:
                got[row] = may[row]
        yield from _compared(got, must, may)


class Part(NamedTuple):
    """A fragment of a record that has several: which record, the fragment's place in it, and its bytes."""

    record: bytes
    place: int
    framed: bytes


# --- lines

HEAD = 3  # lines that tell how the others are meant
FEW = 0.1  # of the lines may be damaged or new


class Lines:
    """The promise for lines. Steps of files without any are counted by the reader: they are left out of it."""

    def __init__(self, seeds: Sequence[Seed], read: Callable[[Seed], Tables]) -> None:
        self.rows: dict[bytes, dict[bytes, list[Row]]] = {}
        for seed in seeds:
            lines, by_line = _lines(seed.data), _by_line(read(seed), seed)
            self.rows[seed.data] = {line: by_line.get(i, []) for i, line in enumerate(lines, 1)}

    def __call__(self, tables: Tables, data: bytes, seed: Seed) -> Iterator[Fault]:
        before, now = _lines(seed.data), _lines(data)
        known, got = self.rows[seed.data], _by_line(tables, seed)
        touched, often = sum(line not in known for line in now), Counter(now)
        if now[:HEAD] != before[:HEAD] or touched > FEW * len(now) or _other(data, seed.data):
            return
        if not {_place(line, seed) for line in now} <= {_place(line, seed) for line in before}:
            return
        for i, line in enumerate(now, 1):
            if line.endswith(b"\n") and line in known and (found := got.get(i, [])) != (rows := known[line]):
                said = often[line] > 1 or any(rows == other for n, other in got.items() if abs(n - i) == 1)
                if (seed.once and said) or sorted(found, key=str) == sorted(rows, key=str):
                    continue
                kind = "wrong" if found else "lost"
                yield Fault(kind, f"line {i} ({line[:60]!r}) gives {found[:3]}, not {rows[:3]}")
                return


def _lines(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True) if b"\r" not in data else io.BytesIO(data).readlines()


def _place(line: bytes, seed: Seed) -> tuple[bytes, ...]:
    """What a line says of its step and epoch."""
    return tuple(re.findall(seed.place, line)) if seed.place else ()


def _by_line(tables: Tables, seed: Seed) -> dict[int, list[Row]]:
    out = defaultdict(list)
    for metric, step, value, line in tables.points.select("metric", "step", "value", "line").iter_rows():
        out[line].append((metric, None if seed.counted else step, _number(value)))
    return out


def _other(data: bytes, seed: bytes) -> bool:
    """Whether the file may be taken for something else as a whole: quotes, carriage returns, NULs, a long line."""
    signs = (b'"', b"\r", b"\0", b"\x0b", b"\x0c", b"\x1c")
    return any(data.count(sign) > seed.count(sign) for sign in signs) or len(data) > 2 * len(seed) + 10_000
