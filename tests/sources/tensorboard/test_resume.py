"""Event files that grow: resumed reading gives the same as reading the whole file."""

import json
import struct
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c
from tensorboard.summary.writer.record_writer import RecordWriter
from tensorboard.util.tensor_util import make_tensor_proto

from loganalyst.model import Tables
from loganalyst.sources.files.readmark import Mark
from loganalyst.sources.tensorboard import reader, smallfiles

T0 = 1_700_000_000.25
APPENDED = ("points", "distributions", "lines", "config", "gaps")


LIMITS: dict[str, int] = {}  # of the current test


@pytest.fixture(autouse=True, params=[0, smallfiles.MAX_SMALL], ids=["large", "small"])
def max_small(request: pytest.FixtureRequest) -> Iterator[None]:
    """Each test reads small files as large ones, and as small ones."""
    LIMITS["max_small"] = request.param
    yield
    LIMITS.clear()


def resume(path: Path, mark: Mark | None) -> tuple[Tables, Mark]:
    """All batches as one, and the mark as it comes back from a store."""
    batches, reading = [], reader.resume(path, mark, **LIMITS)
    while True:
        try:
            batches.append(next(reading))
        except StopIteration as done:
            found = done.value
            return Tables.concat(batches), Mark(found.offset, dict(found.kept), json.loads(json.dumps(found.state)))


def joined(first: Tables, mark: Mark, rest: Tables) -> Tables:
    """The kept rows of an earlier reading and those of the next."""
    frames = {n: pl.concat([getattr(first, n).head(mark.kept.get(n, 0)), getattr(rest, n)]) for n in APPENDED}
    return Tables(**frames, sessions=rest.sessions)


def comparable(tables: Tables) -> dict[str, list[tuple]]:
    """Rows of every table; points by metric, since only points of one metric are in file order."""
    frames = {name: getattr(tables, name) for name in (*APPENDED, "sessions")}
    frames["points"] = frames["points"].sort("metric", maintain_order=True)
    return {name: frame.select(pl.all().cast(pl.String, strict=False)).rows() if name != "distributions" else
            [tuple(map(repr, row)) for row in frame.rows()] for name, frame in frames.items()}  # fmt: skip


def value(kind: int, number: float) -> Summary.Value:
    """One of the kinds of values that writers log; the tag's length depends on the number."""
    metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="scalars"))
    match kind:
        case 0:
            return Summary.Value(tag="loss" + "x" * (int(number) % 3), simple_value=number)
        case 1:
            return Summary.Value(tag="f32", tensor=make_tensor_proto(np.float32(number)), metadata=metadata)
        case 2:
            return Summary.Value(tag="f64", tensor=make_tensor_proto(number / 3), metadata=metadata)
        case 3:
            return Summary.Value(tag="f16", tensor=make_tensor_proto(np.float16(number)), metadata=metadata)
        case _:
            return Summary.Value(tag="late", tensor=make_tensor_proto(np.float32(number)))


def content(kinds: list[list[int]]) -> bytes:
    """An event file by TensorBoard's own record writer: one event a list, its values of these kinds."""
    file = BytesIO()
    writer = RecordWriter(file)
    writer.write(Event(wall_time=T0, file_version="brain.Event:2").SerializeToString())
    for step, several in enumerate(kinds):
        summary = Summary(value=[value(kind, float(step)) for kind in several])
        writer.write(Event(wall_time=T0 + step, step=step * 50, summary=summary).SerializeToString())
    return file.getvalue()


events = st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=3), max_size=30)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kinds=events, cut=st.floats(0, 1), hurt=st.floats(0, 1), damage=st.binary(max_size=40))
def test_resumed_after_any_cut(tmp_path, kinds, cut, hurt, damage):
    """Wherever a file was cut when it was read, damaged or not, resuming gives the tables of the grown file."""
    whole = content(kinds)
    at = int(hurt * len(whole))
    whole = whole[:at] + damage + whole[at + len(damage) :]
    path = tmp_path / "tfevents"
    path.write_bytes(whole)
    expected, _ = resume(path, None)
    path.write_bytes(whole[: int(cut * len(whole))])
    first, mark = resume(path, None)
    path.write_bytes(whole)
    rest, _ = resume(path, mark)

    assert comparable(expected) == comparable(joined(first, mark, rest))


def test_every_cut_of_a_training_loop(tmp_path):
    """Reading a loop resumes correctly from each byte of its last turns."""
    whole = content([[0], [1], [0, 2]] * 12)
    path = tmp_path / "tfevents"
    path.write_bytes(whole)
    expected = comparable(resume(path, None)[0])
    for cut in range(len(whole) - 400, len(whole), 3):
        path.write_bytes(whole[:cut])
        first, mark = resume(path, None)
        path.write_bytes(whole)
        assert expected == comparable(joined(first, mark, resume(path, mark)[0]))


def test_a_copied_header_before_the_cut(tmp_path):
    """A header whose record would go past the end of the file does not end reading if records follow."""
    short, long = content([[0]] * 9), content([[0] * 9])
    first = len(content([]))
    whole = short[:first] + long[first : first + 12] + short[first:]
    path = tmp_path / "tfevents"
    path.write_bytes(whole)
    expected = comparable(resume(path, None)[0])
    for cut in range(first, len(whole), 5):
        path.write_bytes(whole[:cut])
        before, mark = resume(path, None)
        path.write_bytes(whole)
        assert expected == comparable(joined(before, mark, resume(path, mark)[0]))


def test_nothing_appended(tmp_path):
    """Resuming a file that did not grow keeps everything and adds only the session."""
    path = tmp_path / "tfevents"
    path.write_bytes(content([[0], [1]] * 5))
    first, mark = resume(path, None)
    rest, again = resume(path, mark)

    assert (len(path.read_bytes()), mark.kept["points"]) == (mark.offset, 10)
    assert (rest.points.height, rest.sessions.rows()) == (0, first.sessions.rows())
    assert again == mark


@pytest.mark.parametrize("length", [1 << 20, 1 << 40])
def test_valid_length_past_the_end(tmp_path, length):
    """A valid header with a length beyond the end of the file costs no record before or behind it."""
    header = struct.pack("<Q", length)
    before, behind = content([[0]] * 9), content([[1]] * 9)
    path = tmp_path / "tfevents"
    path.write_bytes(before + header + struct.pack("<I", masked_crc32c(header)) + behind)
    tables, _ = resume(path, None)

    assert tables.points.height == 18
    assert tables.gaps.select("offset", "bytes").rows() == [(len(before), 12)]
