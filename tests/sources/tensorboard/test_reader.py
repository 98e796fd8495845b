"""TensorBoard event files by the real writers: our reader and the real readers agree."""

import math
import struct
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.types_pb2 import DT_BFLOAT16, DT_DOUBLE, DT_FLOAT, DT_HALF, DT_INT32, DT_INT64
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c
from tensorboard.summary.writer.record_writer import RecordWriter
from tensorboard.util.tensor_util import make_ndarray, make_tensor_proto
from torch.utils.tensorboard import SummaryWriter

from loganalyst.model import Tables
from loganalyst.sources.tensorboard import reader, settingstext, smallfiles

ROOT = Path(__file__).parents[3]
FOLDERS = (ROOT / "fixtures/runs", ROOT / "../shared/corpus/runs")  # the second is not on every machine
REAL = [path for folder in FOLDERS if folder.is_dir() for path in sorted(folder.rglob("*tfevents*"))]
T0 = 1_700_000_000.25


LIMITS: dict[str, int] = {}  # of the current test


@pytest.fixture(autouse=True, params=[0, smallfiles.MAX_SMALL], ids=["large", "small"])
def max_small(request: pytest.FixtureRequest) -> Iterator[None]:
    """Each test reads small files as large ones, and as small ones."""
    LIMITS["max_small"] = request.param
    yield
    LIMITS.clear()


def read(path: Path, **limits: int) -> Tables:
    return Tables.concat(reader.read(path, **LIMITS, **limits))


def rows(tables: Tables) -> list[tuple]:
    """(metric, step, time in µs, value) with NaN made comparable; per metric in file order."""
    frame = tables.points.sort("metric", maintain_order=True).select(
        "metric", "step", pl.col("time").cast(pl.Int64), "value"
    )
    return [(m, s, t, "nan" if math.isnan(v) else v) for m, s, t, v in frame.iter_rows()]


def oracle(path: Path) -> list[tuple]:
    """The same by TensorBoard's loader and its compiled classes."""
    out, plugins = [], {}
    for event in LegacyEventFileLoader(str(path)).Load():
        for value in event.summary.value:
            plugin = plugins.setdefault(value.tag, value.metadata.plugin_data.plugin_name)
            if value.HasField("simple_value"):
                number = value.simple_value
            elif value.HasField("tensor") and plugin in ("", "scalars") and value.tensor.dtype != 7:
                array = make_ndarray(value.tensor)
                if array.size != 1:
                    continue
                number = float(array.reshape(-1)[0])
            else:
                continue
            micros = round(event.wall_time * 1e6) if event.wall_time > 0 else None
            out.append((value.tag, event.step, micros, "nan" if math.isnan(number) else number))
    return sorted(out, key=lambda row: row[0].encode())


def event_file(folder: Path) -> Path:
    (path,) = folder.rglob("*tfevents*")
    return path


def write(path: Path, events: list[Event]) -> Path:
    """An event file by TensorBoard's own record writer."""
    with path.open("wb") as file:
        writer = RecordWriter(file)
        for event in events:
            writer.write(event.SerializeToString())
    return path


def scalar(step: int, tag: str, value: float) -> Event:
    return Event(wall_time=T0 + step, step=step, summary=Summary(value=[Summary.Value(tag=tag, simple_value=value)]))


VALUES = [0.0, -0.0, 1.5, math.nan, math.inf, -math.inf, 1e-45, 3.4e38, -7.25]


@pytest.mark.parametrize("style", [{}, {"new_style": True}, {"new_style": True, "double_precision": True}])
def test_torch_scalars(tmp_path, style):
    """Scalars of torch's writer, in each of its encodings, are read exactly and in file order."""
    with SummaryWriter(tmp_path) as writer:
        for step in [0, 1, 2, 127, 128, 300, 2**31, 2**40, 5, 6]:
            for i, value in enumerate(VALUES):
                writer.add_scalar(f"loss/{i}", value, step, walltime=T0 + step / 7, **style)
    path = event_file(tmp_path)

    assert oracle(path) == rows(read(path))
    assert len(VALUES) * 10 == read(path).points.height


def test_events_with_and_without_templates(tmp_path):
    """Hundreds of alternating events of both kinds, and a late tag, are read in file order."""
    with SummaryWriter(tmp_path) as writer:
        for step in range(400):
            writer.add_scalar("loss", 1 / (step + 1), step, walltime=T0 + step)
            writer.add_histogram("weights", np.array([step, step + 1.0]), step, walltime=T0 + step)
            if step > 300:
                writer.add_scalar("late", step, step, walltime=T0 + step, new_style=True)
    found = read(event_file(tmp_path))

    assert oracle(event_file(tmp_path)) == rows(found)
    assert found.points.height == 499
    assert found.distributions["step"].to_list() == list(range(400))


def test_torch_scalars_as_event_accumulator(tmp_path):
    """Per tag the values are those of EventAccumulator without limits and of tbparse."""
    from tbparse import SummaryReader

    with SummaryWriter(tmp_path) as writer:
        for step in range(200):
            writer.add_scalar("loss", 1 / (step + 1), step)
            writer.add_scalar("lr", 0.1 * 0.99**step, step)
    found = read(event_file(tmp_path)).points
    accumulator = EventAccumulator(str(tmp_path), size_guidance={"scalars": 0}).Reload()
    parsed = SummaryReader(str(tmp_path)).scalars

    for tag in ("loss", "lr"):
        ours = found.filter(metric=tag)
        assert [(e.step, e.value) for e in accumulator.Scalars(tag)] == list(ours.select("step", "value").iter_rows())
        assert parsed[parsed.tag == tag].value.tolist() == ours["value"].to_list()


def test_add_scalars_writes_one_file_per_tag(tmp_path):
    """add_scalars makes one folder per curve; each file is read on its own."""
    with SummaryWriter(tmp_path) as writer:
        for step in range(5):
            writer.add_scalars("loss", {"train": step, "val": -step}, step)
    files = [p for p in sorted(tmp_path.rglob("*tfevents*")) if p.parent != tmp_path]

    assert [read(p).points["value"].to_list() for p in files] == [
        [0.0, 1.0, 2.0, 3.0, 4.0],
        [0.0, -1.0, -2.0, -3.0, -4.0],
    ]


def test_several_values_per_event(tmp_path):
    """TF1 puts many values into one event: all are read, in order."""
    values = [Summary.Value(tag=f"m{i}", simple_value=i / 4) for i in range(9)]
    path = write(
        tmp_path / "a.tfevents", [Event(wall_time=T0, step=s, summary=Summary(value=values)) for s in range(4)]
    )

    assert oracle(path) == rows(read(path))
    assert read(path).points.height == 36


def packed(dtype: int, **fields) -> TensorProto:
    return TensorProto(dtype=dtype, **fields)


@pytest.mark.parametrize(
    ("tensor", "expected"),
    [
        (make_tensor_proto(np.float32(0.1)), float(np.float32(0.1))),
        (make_tensor_proto(np.float64(0.1)), 0.1),
        (make_tensor_proto(np.float16(0.1)), float(np.float16(0.1))),
        (make_tensor_proto(np.int32(-7)), -7.0),
        (make_tensor_proto(np.int64(-(2**40))), -float(2**40)),
        (make_tensor_proto(np.uint8(200)), 200.0),
        (make_tensor_proto(np.array([2.5], np.float32)), 2.5),
        (packed(DT_FLOAT, float_val=[2.5]), 2.5),
        (packed(DT_DOUBLE, double_val=[0.1]), 0.1),
        (packed(DT_HALF, half_val=[0x3C00]), 1.0),
        (packed(DT_BFLOAT16, half_val=[0x3FC0]), 1.5),
        (packed(DT_INT32, int_val=[-3]), -3.0),
        (packed(DT_INT64, int64_val=[2**33]), float(2**33)),
        (packed(DT_FLOAT, tensor_content=struct.pack("<f", -0.5)), -0.5),
    ],
)
def test_tensor_scalars(tmp_path, tensor, expected):
    """A scalar in any tensor encoding is its value; as in TF2, only the first event of a tag names the plugin."""
    meta = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="scalars"))
    events = [
        Event(
            wall_time=T0,
            step=step,
            summary=Summary(value=[Summary.Value(tag="x", tensor=tensor, metadata=None if step else meta)]),
        )
        for step in range(3)
    ]

    assert [("x", s, round(T0 * 1e6), expected) for s in range(3)] == rows(read(write(tmp_path / "tfevents", events)))


def test_unpacked_float_val(tmp_path):
    """float_val written element by element, as old writers do, is read too."""
    tensor = b"\x08\x01\x2d" + struct.pack("<f", 4.5)
    value = b"\x0a\x01x\x42" + bytes([len(tensor)]) + tensor
    summary = b"\x0a" + bytes([len(value)]) + value
    event = b"\x09" + struct.pack("<d", T0) + b"\x10\x03\x2a" + bytes([len(summary)]) + summary
    path = tmp_path / "tfevents"
    with path.open("wb") as file:
        RecordWriter(file).write(event)
        RecordWriter(file).write(event)

    assert [("x", 3, round(T0 * 1e6), 4.5)] * 2 == oracle(path) == rows(read(path))


def test_signalling_nan(tmp_path):
    """Every bit pattern of NaN is NaN, in scalars and tensors, without a warning."""
    value = struct.unpack("<f", b"\x01\x00\x80\x7f")[0]
    tensor = packed(DT_FLOAT, tensor_content=b"\x01\x00\x80\x7f")
    half = packed(DT_HALF, half_val=[0x7C01])
    events = [
        Event(wall_time=T0, step=step, summary=Summary(value=[Summary.Value(tag=f"t{i}", **kind)]))
        for step in range(3)
        for i, kind in enumerate([{"simple_value": value}, {"tensor": tensor}, {"tensor": half}])
    ]

    assert read(write(tmp_path / "tfevents", events)).points["value"].is_nan().sum() == 9


def test_time_and_session(tmp_path):
    """Wall times become µs in UTC; the session spans the first to the last event."""
    path = write(tmp_path / "tfevents", [Event(wall_time=T0, file_version="brain.Event:2"), scalar(7, "a", 1.0)])
    tables = read(path)

    assert [datetime.fromtimestamp(T0 + 7, UTC)] == tables.points["time"].to_list()
    assert [(0, "tfevents", datetime.fromtimestamp(T0, UTC), datetime.fromtimestamp(T0 + 7, UTC), None)] == (
        tables.sessions.select("session", "source", "started", "ended", "status").rows()
    )
    assert tables.gaps.height == 0


def test_events_without_a_wall_time(tmp_path):
    """An event whose time was never set has time NULL, not 1970."""
    event = scalar(1, "a", 2.0)
    event.wall_time = 0.0
    tables = read(write(tmp_path / "tfevents", [event]))

    assert rows(tables) == [("a", 1, None, 2.0)]


def test_torch_histograms(tmp_path):
    """Counts, moments and extremes are the writer's; zeros are counted; quantiles lie within a bucket's width."""
    rng = np.random.default_rng(0)
    values = np.maximum(rng.normal(0.5, 1, 10_000), 0)
    with SummaryWriter(tmp_path) as writer:
        writer.add_histogram("act", values, 3, walltime=T0)
        writer.add_histogram("zero", np.zeros(50), 4, walltime=T0)
        writer.add_histogram("high", rng.uniform(5, 6, 100), 4, walltime=T0, bins=10)
        writer.add_histogram("coarse", rng.uniform(-1, 1, 100), 4, walltime=T0, bins=10)
    found = {row["metric"]: row for row in read(event_file(tmp_path)).distributions.iter_rows(named=True)}
    act = found["act"]

    assert (10_000.0, values.min(), values.max(), 3) == (act["count"], act["min"], act["max"], act["step"])
    assert [values.mean(), values.std()] == pytest.approx([act["mean"], act["std"]], rel=1e-9)
    assert [float((values == 0).sum()), 50.0, 0.0, None] == [
        found[m]["zeros"] for m in ("act", "zero", "high", "coarse")
    ]
    assert np.quantile(values, [0, 0.05, 0.25, 0.5, 0.75, 0.95, 1]).tolist() == pytest.approx(act["quantiles"], rel=0.1)
    assert found["zero"]["quantiles"] == [0.0] * 7


def test_tensor_histograms(tmp_path):
    """A [k, 3] tensor is left edge, right edge, count; moments come from bucket middles, an empty one has count 0."""
    meta = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="histograms"))
    edges = np.linspace(0, 10, 11)
    full = np.stack([edges[:-1], edges[1:], np.full(10, 4.0)], 1)
    values = [
        Summary.Value(tag="h", tensor=make_tensor_proto(full), metadata=meta),
        Summary.Value(tag="e", tensor=make_tensor_proto(np.zeros((0, 3))), metadata=meta),
    ]
    path = write(tmp_path / "tfevents", [Event(wall_time=T0, step=1, summary=Summary(value=values))])
    filled, empty = read(path).distributions.iter_rows(named=True)

    assert [filled[k] for k in ("count", "mean", "min", "max", "zeros")] == [40.0, 5.0, 0.0, 10.0, None]
    assert math.sqrt(8.25) == pytest.approx(filled["std"])
    assert pytest.approx(filled["quantiles"]) == [0.0, 0.5, 2.5, 5.0, 7.5, 9.5, 10.0]
    assert (empty["count"], empty["mean"], empty["quantiles"]) == (0.0, None, None)


def test_text_and_hparams(tmp_path):
    """Text and hyperparameters become config rows, numbers as numbers."""
    with SummaryWriter(tmp_path) as writer:
        writer.add_text("note", "x" * 10_000)
        writer.add_text("args", '{"max_steps": 120}')
        writer.add_hparams({"lr": 0.1, "layers": 3, "opt": "adam", "amp": True}, {"hp/acc": 0.9}, run_name="hp")
    config = {}
    for path in tmp_path.rglob("*tfevents*"):
        config |= {key: (value, number) for key, value, number, _ in read(path).config.iter_rows()}

    assert config == {
        "note": ("x" * settingstext.MAX_TEXT, None),
        "args.max_steps": ("120", 120.0),
        "lr": ("0.1", 0.1),
        "layers": ("3.0", 3.0),
        "opt": ("adam", None),
        "amp": ("1.0", 1.0),  # torch writes truth values as numbers
    }


def test_sniff(tmp_path):
    """Event files are recognised by structure or by name; other files are not."""
    path = write(tmp_path / "events.out.tfevents.1.host.v2", [Event(wall_time=T0, file_version="brain.Event:2")])
    head = path.read_bytes()

    assert reader.sniff(path, head) == 1.0
    assert reader.sniff(Path("renamed"), head) == 1.0
    assert reader.sniff(path, b"") == 0.9
    assert reader.sniff(path, b"\x00" * 100) == 0.9
    assert [reader.sniff(Path("a.csv"), h) for h in (b"", b"step,loss\n1,2\n", b"\0" * 99)] == [0.0, 0.0, 0.0]


def test_empty_and_header_only(tmp_path):
    """An empty file is a gap; a file with only its header is a session without points."""
    empty = tmp_path / "a.tfevents"
    empty.touch()
    only = write(tmp_path / "b.tfevents", [Event(wall_time=T0, file_version="brain.Event:2")])

    assert read(empty).gaps.rows() == [("a.tfevents", 0, 0, "empty event file")]
    assert (read(only).points.height, read(only).sessions.height, read(only).gaps.height) == (0, 1, 0)


def sample(folder: Path) -> tuple[bytes, list[tuple[int, int]]]:
    """An event file's bytes and the extent of each record; the value of record i is i."""
    events = [scalar(i, f"tag{i % 3}" + "x" * (i % 5), float(i)) for i in range(40)]
    data = write(folder / "tfevents", events).read_bytes()
    extents, at = [], 0
    while at < len(data):
        end = at + 16 + int.from_bytes(data[at : at + 8], "little")
        extents.append((at, end))
        at = end
    return data, extents


given_folder = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@given_folder
@given(share=st.floats(0, 1))
def test_truncated_anywhere(tmp_path, share):
    """A file cut off anywhere keeps every whole record and reports the rest as a gap of the right size."""
    data, extents = sample(tmp_path)
    cut = int(share * len(data))
    whole = [i for i, (_, end) in enumerate(extents) if end <= cut]
    (tmp_path / "tfevents").write_bytes(data[:cut])
    tables = read(tmp_path / "tfevents")
    end = extents[whole[-1]][1] if whole else 0

    assert [float(i) for i in whole] == tables.points["value"].to_list()
    if end < cut:
        assert (end, cut - end) in tables.gaps.select("offset", "bytes").rows()


@given_folder
@given(share=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_flipped_bit_anywhere(tmp_path, share, bit):
    """One flipped bit costs exactly the record it is in, which is the gap."""
    data, extents = sample(tmp_path)
    at = int(share * len(data))
    hit = next(i for i, (a, b) in enumerate(extents) if a <= at < b)
    flipped = data[:at] + bytes([data[at] ^ (1 << bit)]) + data[at + 1 :]
    (tmp_path / "tfevents").write_bytes(flipped)
    tables = read(tmp_path / "tfevents")
    start, end = extents[hit]

    assert [float(i) for i in range(len(extents)) if i != hit] == tables.points["value"].to_list()
    assert [(start, end - start)] == tables.gaps.select("offset", "bytes").rows()


@given_folder
@given(share=st.floats(0, 1), length=st.integers(1, 500), fill=st.sampled_from(["zero", "random", "insert", "delete"]))
def test_damaged_pages(tmp_path, share, length, fill):
    """Zeroed, overwritten, inserted or lost bytes: every record outside them is kept, in order."""
    data, extents = sample(tmp_path)
    at = int(share * len(data))
    noise = np.random.default_rng(length).bytes(length)
    upto = at if fill == "insert" else min(at + length, len(data))
    middle = {"zero": b"\0" * (upto - at), "random": noise[: upto - at], "insert": noise, "delete": b""}[fill]
    (tmp_path / "tfevents").write_bytes(data[:at] + middle + data[upto:])
    tables = read(tmp_path / "tfevents")
    found = tables.points["value"].to_list()
    kept = {float(i) for i, (a, b) in enumerate(extents) if b <= at or a >= upto}

    assert found == sorted(set(found))
    assert kept <= set(found) <= {float(i) for i in range(len(extents))}
    if len(found) < len(extents) and fill != "delete":
        assert tables.gaps.height >= 1


def test_records_across_read_blocks(tmp_path):
    """The boundaries of blocks make no difference, with or without damage."""
    data, _ = sample(tmp_path)
    damaged = data[:300] + b"\xff" * 9 + data[305:900] + b"\0" * 70 + data[960:-5]
    for content in (data, damaged):
        (tmp_path / "tfevents").write_bytes(content)
        expected = read(tmp_path / "tfevents")
        for chunk in (1, 7, 64, 100, 333):
            found = read(tmp_path / "tfevents", chunk=chunk)
            assert expected.points.equals(found.points)
            assert expected.gaps.sort("offset").equals(found.gaps.sort("offset"))


def test_a_record_too_long_to_hold_is_skipped(tmp_path):
    """A giant record (a graph, a video) is a gap; the records behind it are read."""
    path = write(tmp_path / "tfevents", [scalar(1, "a", 1.0), Event(graph_def=b"g" * 5000), scalar(2, "a", 2.0)])
    tables = read(path, chunk=128, max_record=1000)

    assert tables.points["value"].to_list() == [1.0, 2.0]
    assert tables.gaps["why"].to_list() == ["a record longer than 0 MiB"]


def test_a_record_that_is_not_an_event(tmp_path):
    """An intact record that is not an event is a gap with its offset; its neighbours are read."""
    path = tmp_path / "tfevents"
    with path.open("wb") as file:
        writer = RecordWriter(file)
        for payload in (scalar(1, "a", 1.0).SerializeToString(), b"\x2a\xff", scalar(2, "a", 2.0).SerializeToString()):
            writer.write(payload)
    tables = read(path)
    first = 16 + len(scalar(1, "a", 1.0).SerializeToString())

    assert tables.points["value"].to_list() == [1.0, 2.0]
    assert [(first, 18)] == tables.gaps.select("offset", "bytes").rows()


@given_folder
@given(payload=st.binary(max_size=80))
def test_any_payload(tmp_path, payload):
    """No payload of an intact record raises an exception."""
    path = tmp_path / "tfevents"
    header = struct.pack("<Q", len(payload))
    crcs = (struct.pack("<I", masked_crc32c(b)) for b in (header, payload))
    path.write_bytes(header + next(crcs) + payload + next(crcs))

    assert read(path).lines.height == 0


@pytest.mark.parametrize("path", REAL, ids=lambda p: p.parent.name)
def test_real_event_files(path):
    """Every recorded and every real event file reads as TensorBoard's own loader reads it."""
    assert oracle(path) == rows(read(path))
