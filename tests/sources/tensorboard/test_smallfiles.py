"""Small event files of scalars: the fast path gives the same as decoding event by event."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.types_pb2 import DT_FLOAT
from tensorboard.summary.writer.record_writer import RecordWriter
from tensorboard.util.tensor_util import make_tensor_proto

from loganalyst.model import Tables
from loganalyst.sources.files.readmark import Mark
from loganalyst.sources.tensorboard import reader, smallfiles

T0 = 1_700_000_000.25
SCALARS = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="scalars"))
TYPED = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="scalars"), data_class=1)


def simple(tag: str, number: float) -> Summary.Value:
    return Summary.Value(tag=tag, simple_value=number)


def torch(tag: str, number: float) -> Summary.Value:
    return Summary.Value(tag=tag, tensor=TensorProto(dtype=DT_FLOAT, float_val=[number]), metadata=SCALARS)


def tensorflow(tag: str, number: float) -> Summary.Value:
    tensor = TensorProto(dtype=DT_FLOAT, tensor_content=np.float32(number).tobytes())
    tensor.tensor_shape.SetInParent()
    return Summary.Value(tag=tag, tensor=tensor, metadata=SCALARS)


def typed(tag: str, number: float) -> Summary.Value:
    return Summary.Value(tag=tag, tensor=make_tensor_proto(np.float32(number)), metadata=TYPED)


def bare(tag: str, number: float) -> Summary.Value:
    return Summary.Value(tag=tag, tensor=make_tensor_proto(np.float32(number)))


FORMS = (simple, torch, tensorflow, typed, bare)


def write(path: Path, events: list[Event], version: str = "brain.Event:2") -> Path:
    """An event file by TensorBoard's own record writer."""
    with path.open("wb") as file:
        writer = RecordWriter(file)
        for event in [Event(wall_time=T0, file_version=version), *events]:
            writer.write(event.SerializeToString())
    return path


def event(step: int, *values: Summary.Value) -> Event:
    return Event(wall_time=T0 + step % 1000 / 7, step=step, summary=Summary(value=values))


def read(path: Path, **limits: int) -> tuple[Tables, Mark]:
    batches, reading = [], reader.resume(path, None, **limits)
    while True:
        try:
            batches.append(next(reading))
        except StopIteration as done:
            return Tables.concat(batches), done.value


def assert_same(path: Path) -> None:
    (found, mark), (expected, expected_mark) = read(path), read(path, max_small=0)
    for name in vars(expected):
        assert getattr(found, name).equals(getattr(expected, name)), name
    assert found.points.schema == expected.points.schema
    assert mark == expected_mark


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_scalar(tmp_path: Path, form: Callable[[str, float], Summary.Value]) -> None:
    """Tags, steps of one to seven bytes, and non-finite values, in each form that writers use."""
    values = [1.5, -0.0, np.inf, -np.inf, np.nan, 1e-45]
    steps = [0, 1, 127, 128, 16_383, 16_384, 2**21, 2**31, 2**48, 3]
    events = [event(step, form(f"é/{'x' * i}", value)) for step in steps for i, value in enumerate(values)]
    path = write(tmp_path / "events.out.tfevents.1", events)

    assert smallfiles.read(path) is not None
    assert_same(path)
    assert read(path)[0].points["value"].to_list()[:4] == [1.5, 0.0, np.inf, -np.inf]
    assert read(path)[0].points["step"].to_list() == [step for step in steps for _ in values]


ODD = {
    "no event": [],
    "two values": [event(1, simple("a", 1), simple("b", 2))],
    "two forms": [event(1, simple("a", 1)), event(2, torch("a", 2))],
    "a step below zero": [event(-1, simple("a", 1))],
    "a step of eight bytes": [event(2**49, simple("a", 1))],
    "no wall time": [event(1, simple("a", 1)), Event(step=2, summary=Summary(value=[simple("a", 2)]))],
    "a wall time below zero": [Event(wall_time=-1.0, step=2, summary=Summary(value=[simple("a", 2)]))],
    "no tag": [event(1, Summary.Value(simple_value=1.0))],
    "a long tag": [event(1, simple("x" * 120, 1))],
    "a version": [event(1, simple("a", 1)), Event(wall_time=T0, file_version="brain.Event:2")],
    "a double": [event(1, Summary.Value(tag="a", tensor=make_tensor_proto(np.float64(1)), metadata=SCALARS))],
    "a text": [event(1, simple("a", 1)), event(1, Summary.Value(tag="t", tensor=make_tensor_proto("long" * 9)))],
}


@pytest.mark.parametrize("case", ODD)
def test_odd_files_are_left_to_the_general_path(tmp_path: Path, case: str) -> None:
    path = write(tmp_path / "events.out.tfevents.1", ODD[case])

    assert smallfiles.read(path) is None
    assert_same(path)


def test_a_file_that_is_not_small(tmp_path: Path) -> None:
    """One byte above the limit."""
    path = write(tmp_path / "events.out.tfevents.1", [event(i, simple("loss", i)) for i in range(20)])

    assert smallfiles.read(path, path.stat().st_size) is not None
    assert smallfiles.read(path, path.stat().st_size - 1) is None


@pytest.mark.parametrize("form", [simple, torch])
def test_every_damage_is_detected(tmp_path: Path, form: Callable[[str, float], Summary.Value]) -> None:
    """Every flipped bit, and every cut except between two records, rules the fast path out."""
    path = write(tmp_path / "events.out.tfevents.1", [event(100 * i, form(f"loss{i % 2}", i)) for i in range(4)])
    data = path.read_bytes()
    for place in range(len(data)):
        for bit in range(8):
            path.write_bytes(data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :])
            assert smallfiles.read(path) is None, (place, bit)
    whole = []
    for size in range(len(data)):
        path.write_bytes(data[:size])
        if smallfiles.read(path) is not None:
            whole.append(size)
            assert_same(path)

    assert len(whole) == 3  # behind the first, second and third event


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    form=st.sampled_from(FORMS),
    changes=st.lists(st.tuples(st.integers(0, 60), st.integers(0, 255)), max_size=2),
    length=st.integers(0, 70) | st.none(),
)
def test_any_payload_with_its_checksum(
    tmp_path: Path, form: Callable[..., Summary.Value], changes: list[tuple[int, int]], length: int | None
) -> None:
    """Events with changed bytes or another length give the same on both paths."""
    payload = bytearray(event(200, form("loss", 0.5)).SerializeToString())
    for place, byte in changes:
        payload[place % len(payload)] = byte
    payload = payload if length is None else payload[:length].ljust(length, b"\0")
    path = write(tmp_path / "events.out.tfevents.1", [event(i, form("loss", i)) for i in range(2)])
    with path.open("ab") as file:
        RecordWriter(file).write(bytes(payload))

    assert_same(path)
