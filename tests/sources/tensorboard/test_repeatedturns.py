"""Event files of training loops, of which many turns are read at once."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter
from torch.utils.tensorboard import SummaryWriter

from loganalyst.model import Tables
from loganalyst.sources.tensorboard import reader, repeatedturns

T0 = 1_700_000_000.25
TAGS = ("train/loss", "lr", "grad_norm", "lr")  # one of them twice a turn

given_folder = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def event(step: int, *values: tuple[str, float]) -> Event:
    summary = Summary(value=[Summary.Value(tag=tag, simple_value=value) for tag, value in values])
    return Event(wall_time=T0 + step / 3, step=step, summary=summary)


def loop(steps: range) -> list[Event]:
    """A training loop with a validation now and then, and one value that is not finite."""
    out = [Event(wall_time=T0, file_version="brain.Event:2")]
    for step in steps:
        out += [event(step, (tag, math.inf if step == 70 and i == 2 else step + i / 8)) for i, tag in enumerate(TAGS)]
        if step % 90 == 89:
            out.append(event(step, ("val/loss", 1 / step), ("val/accuracy", step / 100)))
    return out


def write(path: Path, events: list[Event]) -> Path:
    with path.open("wb") as file:
        writer = RecordWriter(file)
        for one in events:
            writer.write(one.SerializeToString())
    return path


def values(tables: Tables) -> dict[str, list[tuple[int, float]]]:
    frame = tables.points.group_by("metric", maintain_order=True).agg("step", "value")
    return {m: list(zip(s, v, strict=True)) for m, s, v in frame.iter_rows()}


def oracle(path: Path) -> dict[str, list[tuple[int, float]]]:
    out: dict[str, list[tuple[int, float]]] = {}
    for one in LegacyEventFileLoader(str(path)).Load():
        for value in one.summary.value:
            out.setdefault(value.tag, []).append((one.step, value.simple_value))
    return out


def read(path: Path, **limits: int) -> Tables:
    """All tables, by the path for large files."""
    return Tables.concat(reader.read(path, max_small=0, **limits))


@pytest.mark.parametrize("chunk", [600, 5000, 1 << 21])
def test_a_training_loop(tmp_path: Path, chunk: int) -> None:
    """Steps that grow from one byte to three, with validations between, in blocks of any size: all are read."""
    path = write(tmp_path / "a.tfevents", loop(range(16_300, 16_500)) + loop(range(400)))

    assert values(read(path, chunk=chunk)) == oracle(path)


def test_repeated_turns_are_taken_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fast path reads nearly all records of a plain loop."""
    taken = []
    original = repeatedturns.Period.take

    def take(*arguments: object) -> repeatedturns.Turns | None:
        turns = original(*arguments)  # type: ignore[arg-type]
        taken.append(len(turns.codes) if turns else 0)
        return turns

    monkeypatch.setattr(repeatedturns.Period, "take", take)
    events = [event(step, (tag, step / 7)) for step in range(200, 3000) for tag in ("a", "b")]
    path = write(tmp_path / "a.tfevents", events)

    assert values(read(path, chunk=20_000)) == oracle(path)
    assert sum(taken) > 0.9 * len(events)


@given_folder
@given(
    place=st.floats(0, 1),
    bit=st.integers(0, 7),
    chunk=st.sampled_from([4000, 1 << 21]),
    piece=st.sampled_from([1, 1000, 1 << 17]),
)
def test_one_flipped_bit_costs_one_record(tmp_path: Path, place: float, bit: int, chunk: int, piece: int) -> None:
    """The damaged record becomes a gap, and all others are read, however many turns are compared at once."""
    events = [event(step, (tag, step + i / 8)) for step in range(200, 500) for i, tag in enumerate(("la", "lb", "lc"))]
    data = bytearray(write(tmp_path / "a.tfevents", events).read_bytes())
    at = int(place * (len(data) - 1))
    data[at] ^= 1 << bit
    size = len(data) // len(events)
    lost = at // size
    (tmp_path / "a.tfevents").write_bytes(data)
    found = read(tmp_path / "a.tfevents", chunk=chunk, piece=piece)

    kept = events[:lost] + events[lost + 1 :]
    expected = oracle(write(tmp_path / "b.tfevents", kept))
    assert len(data) == size * len(events), "records of one size make the arithmetic right"
    assert values(found) == expected
    assert found.gaps.select("offset", "bytes").rows() == [(lost * size, size)]


@pytest.mark.parametrize("chunk", [20_000, 1 << 21])
def test_many_values_per_event(tmp_path: Path, chunk: int) -> None:
    """TF1 events with different numbers of values are read as TensorBoard reads them."""
    rows = [
        event(step, *((f"m{i}", step + i / 4) for i in range(9 if step % 5 else 40)), ("last", float(step)))
        for step in range(900)
    ]
    path = write(tmp_path / "a.tfevents", rows)

    assert values(read(path, chunk=chunk)) == oracle(path)


def test_values_that_hardly_change(tmp_path: Path) -> None:
    """Events with several values, of which some never change, lose none of them."""
    path = write(
        tmp_path / "a.tfevents", [event(step, ("lr", 0.1), ("loss", 1 / (step // 50 + 1))) for step in range(200, 900)]
    )

    assert values(read(path, chunk=4000)) == oracle(path)


def test_media_are_counted(tmp_path: Path) -> None:
    """Images, audio and curves are counted: one gap each, with the first tag."""
    with SummaryWriter(tmp_path) as writer:
        for step in range(3):
            writer.add_image("sample", np.zeros((3, 4, 4)), step)
            writer.add_pr_curve("pr", np.array([0, 1]), np.array([0.2, 0.8]), step)
            writer.add_scalar("loss", 1.0, step)
    (path,) = tmp_path.glob("events*")

    assert read(path).points.height == 3
    assert sorted(read(path).gaps["why"]) == [
        "3 of plugin 'images' not read, the first under 'sample'",
        "3 of plugin 'pr_curves' not read, the first under 'pr'",
    ]
