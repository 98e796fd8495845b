"""The fast path for small files that contain only scalars, read event after event.

The preparations for large files cost more than reading such a file. A file with anything unexpected (damage, an
unfinished end, anything but scalars) is left to the path for large files.
"""

import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from loganalyst.model import SCHEMAS, Tables, Time, constant
from loganalyst.opening import descriptor
from loganalyst.sources.files.protobuf import varint
from loganalyst.sources.files.timestamps import micros
from loganalyst.sources.tensorboard import crc32c
from loganalyst.sources.tensorboard.shortrecords import FRAME, HEADER, at, headers

MAX_SMALL = crc32c.MAX_IN_ROW  # bytes of a small file
WALL_TIME, STEP, VERSION, WRITER = 0x09, 0x10, b"\x1a\x0dbrain.Event:2", 0x52  # where an event's fields begin
SUMMARY, VALUE, TAG = 0x2A, 0x0A, 0x0A  # each with its length behind it
MAX_STEP = 1 << 49  # steps from here on are no small file's


class Form(NamedTuple):
    """An encoding of scalars: the bytes `between` the tag and the float32, the bytes `behind` it, and the plugin."""

    between: bytes
    behind: bytes
    plugin: str = ""


_TENSORS = (b"B\x08\x08\x01*\x04", b'B\x0a\x08\x01\x12\x00"\x04', b"B\x0a\x08\x01\x12\x00*\x04")  # torch's, two of TF
_SCALARS = (b"J\x0b\x0a\x09\x0a\x07scalars", b"J\x0d\x0a\x09\x0a\x07scalars\x20\x01")
FORMS = (
    Form(b"\x15", b""),
    *(Form(tensor, scalars, "scalars") for tensor in _TENSORS for scalars in _SCALARS),
    *(Form(tensor, b"") for tensor in _TENSORS),
)


class Small(NamedTuple):
    """The scalars of a file.

    `tags` are in order of appearance. `metrics`, `steps` and `values` have one item per scalar. `times` are those of
    all events, the version event first, in µs since 1970. `walls`: the wall times of the first and the last event.
    """

    size: int
    tags: Sequence[str]
    plugin: str
    metrics: Sequence[str]
    steps: Sequence[int]
    times: Sequence[int]
    values: Sequence[float]
    walls: Sequence[float]

    def tables(self, source: str) -> Tables:
        """The rows of `points` in file order, and the row of `sessions`."""
        rows = len(self.steps)
        texts = pl.Series("metric", [*self.metrics, source], pl.String)  # each Series costs more than its rows
        counts = pl.Series("step", [*self.steps, *self.times], pl.Int64)
        sources, times = texts.new_from_index(rows, rows).alias("source"), counts.slice(rows).cast(Time)
        points, sessions = _blank("points", MAX_SMALL // FRAME).head(rows), _blank("sessions", 1).clone()
        points.replace_column(1, texts.head(rows))
        points.replace_column(2, counts.head(rows))
        points.replace_column(4, times.slice(1).alias("time"))
        points.replace_column(5, pl.Series("value", self.values, pl.Float64))
        points.replace_column(6, sources)
        sessions.replace_column(1, sources.head(1))
        sessions.replace_column(4, times.head(1).alias("started"))
        sessions.replace_column(5, times.tail(1).alias("ended"))
        return Tables(points=points, sessions=sessions)


@cache
def _blank(name: str, rows: int) -> pl.DataFrame:
    """Rows of a table with session 0 and no other values."""
    return pl.DataFrame({n: constant(0 if n == "session" else None, rows, t) for n, t in SCHEMAS[name].items()})


def read(path: Path, limit: int = MAX_SMALL) -> Small | None:
    """The scalars of a small file of at most `limit` bytes; None for other files. Raises OSError."""
    file = descriptor(path)
    try:
        data = os.read(file, limit + 1)
        return _scalars(data) if len(data) <= limit else None
    finally:
        os.close(file)


def _scalars(data: bytes) -> Small | None:
    try:
        found = _events(data)
    except (KeyError, IndexError, ValueError):
        return None
    if found is None:
        return None
    raw = np.frombuffer(data, np.uint8)
    ends = np.array(found.ends)
    starts = np.empty_like(ends)
    starts[0], starts[1:] = HEADER, ends[:-1] + FRAME
    if crc32c.masked_in_row(raw, starts, ends).tobytes() != at(raw, ends, "<u4").tobytes():
        return None
    walls = at(raw, starts, "<f8", 1)
    times = micros(walls)
    if times is None:
        return None
    values = at(raw, ends[1:] - len(found.form.behind) - 4, "<f4").tolist()
    span = [float(walls[0]), float(walls[-1])]
    return Small(len(data), found.tags, found.form.plugin, found.metrics, found.steps, times.tolist(), values, span)


class _Events(NamedTuple):
    """The ends of the payloads, the version event first; step and tag of the others; tags in order of appearance."""

    ends: list[int]
    steps: list[int]
    metrics: list[str]
    tags: list[str]
    form: Form


def _events(data: bytes) -> _Events | None:
    """Walk the records, without verifying the checksums of their payloads.

    Raises KeyError, IndexError or ValueError at anything unexpected.
    """
    known, lengths, size = dict[bytes, str](), headers(), len(data)
    end = _version(data, lengths)
    ends, steps, metrics = [end], list[int](), list[str]()
    form = FORMS[0]
    behind, cut = form.behind, 4
    end += 4
    while end < size:
        begin = end + HEADER
        end = begin + lengths[data[end:begin]]
        body, step = begin + 9, 0
        if data[body] == STEP:
            step, body = data[body + 1], body + 2
            if step > 0x7F:
                step, body = step + (data[body] << 7) - 0x80, body + 1
                if step > 0x3FFF:
                    step, body = varint(data, begin + 10)
                    if step >= MAX_STEP:
                        return None
        try:
            metric = known[data[body : end - cut]]
        except KeyError:
            tag, form = _learned(data, body, end, [form] if known else FORMS)
            behind, cut = form.behind, len(form.behind) + 4
            metric = known[data[body : end - cut]] = tag.decode(errors="replace")
        if data[begin] != WALL_TIME or (behind and data[end - cut + 4 : end] != behind):
            return None
        ends.append(end)
        steps.append(step)
        metrics.append(metric)
        end += 4
    return _Events(ends, steps, metrics, list(known.values()), form) if end == size and metrics else None


def _version(data: bytes, lengths: dict[bytes, int]) -> int:
    """The end of the first record's payload, which holds the format's version and optionally the writer."""
    end = HEADER + lengths[data[:HEADER]]
    body = HEADER + 9
    behind = body + len(VERSION)
    named = data[behind] == WRITER and data[behind + 1] == end - behind - 2 < 0x80
    if data[HEADER] != WALL_TIME or data[body:behind] != VERSION or not (named or end == behind):
        raise ValueError("not a version event")
    return end


def _learned(data: bytes, body: int, end: int, forms: Sequence[Form]) -> tuple[bytes, Form]:
    """The tag of the event data[:end] whose summary begins at `body`, and the form of its value."""
    size = end - body
    for form in forms:
        tag = size - len(form.between) - len(form.behind) - 10
        if size > 0x81 or tag < 1 or data[body : body + 6] != bytes([SUMMARY, size - 2, VALUE, size - 4, TAG, tag]):
            continue
        name = body + 6 + tag
        if data[name : name + len(form.between)] == form.between and data[end - len(form.behind) : end] == form.behind:
            return data[body + 6 : name], form
    raise ValueError("not a plain scalar")
