"""W&B's summary file: the only metrics of a run whose history is gone, nothing where the history is there."""

import json
import math
import struct
import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loganalyst import pipeline
from loganalyst.model import Tables
from loganalyst.sources.wandb import summary_reader

SUMMARY = (
    '{"loss": 0.5, "acc": NaN, "best": "Infinity", "n": 3, "eval": {"f1": 0.25, "note": "good"}, "done": true,'
    ' "img": {"_type": "image-file", "path": "a.png"}, "_step": 7, "_timestamp": 1.6e9, "_runtime": 9, "_wandb": {}}'
)


def written(folder: Path, content: str = SUMMARY) -> Path:
    path = folder / "files/wandb-summary.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


def read(path: Path) -> Tables:
    return Tables.concat([Tables(), *summary_reader.read(path)])


def test_last_values_are_points(tmp_path):
    """Each number is a point at the summary's own step and time; other values are reported."""
    tables = read(written(tmp_path))
    found = {name: "nan" if math.isnan(value) else value for name, value in tables.points["metric", "value"].rows()}

    assert found == {"loss": 0.5, "acc": "nan", "best": math.inf, "n": 3.0, "eval.f1": 0.25, "done": 1.0}
    assert set(tables.points["step"]) == {7}
    assert tables.points["time"].dt.epoch("s").unique().to_list() == [1_600_000_000]
    assert tables.gaps["why"].to_list() == ["2 logged values are not numbers: 1 image-file (img), 1 text (eval.note)"]


HEADER = b":W&B\xe1\xbe\x00"
STEP = b"\x12\x0b\x0a\x09\x0a\x03acc\x82\x01\x011"  # a row of the history: acc is 1
HOST = b"\x8a\x01\x06\x6a\x04host"  # what a run says of itself


def record(data: bytes) -> bytes:
    return struct.pack("<IHB", zlib.crc32(b"\1" + data), len(data), 1) + data


@pytest.mark.parametrize(
    ("history", "content"),
    [
        ("files/wandb-history.jsonl", b""),
        ("run-1.wandb", HEADER + record(HOST) + record(STEP)),
        ("run-1.wandb", bytes((1 << 20) + 1)),
    ],
)
def test_nothing_beside_a_history(tmp_path, history, content):
    """Where the history stands beside it, all its values stand there too; a large file is taken for one."""
    path = written(tmp_path)
    (tmp_path / history).write_bytes(content)

    assert list(summary_reader.read(path)) == []


@pytest.mark.parametrize(
    "content", [b"", HEADER, HEADER + record(HOST), HEADER + record(STEP)[:-1], HEADER + b"\x99" * 99]
)
def test_beside_a_file_without_metrics(tmp_path, content):
    """A run's own file that holds none (its writer was killed, or never got so far) does not hide the summary."""
    written(tmp_path)
    (tmp_path / "run-1.wandb").write_bytes(content)
    run = pipeline.read_run(tmp_path)

    assert run.points.filter(metric="loss").select("step", "value").rows() == [(7, 0.5)]
    assert {source.path: source.points for source in run.sources} == {"run-1.wandb": 0, "files/wandb-summary.json": 6}


def test_without_step(tmp_path):
    """A summary that says neither step nor time gives points without them."""
    points = read(written(tmp_path, '{"a": 1, "_wandb": {"runtime": 3}}')).points

    assert points.select("metric", "step", "time", "value").rows() == [("a", None, None, 1.0)]


@pytest.mark.parametrize("content", ['{"a": 1', "[1]", "", '{"a": ' + "[" * 100_000])
def test_no_summary(tmp_path, content):
    """Broken content is a gap of its size."""
    tables = read(written(tmp_path, content))

    assert (tables.points.height, tables.gaps["bytes"].to_list()) == (0, [len(content)])


def test_sniff():
    """The file is known by its name."""
    assert summary_reader.sniff(Path("files/wandb-summary.json"), b"{}") == 1.0
    assert summary_reader.sniff(Path("summary.json"), b"{}") == 0.0


NESTED = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.dictionaries(st.text() | st.sampled_from(["_step", "_timestamp", "\ud800"]), NESTED, max_size=5))
def test_any_summary(tmp_path, data):
    """Whatever JSON it holds, nothing is raised, and every number at the top is a point."""
    points = read(written(tmp_path, json.dumps(data))).points
    numbers = [k for k, v in data.items() if isinstance(v, int | float) and not k.startswith("_")]

    assert len(numbers) <= points.height


def test_a_run_whose_own_file_is_gone_is_diagnosed(tmp_path):
    """A run directory with nothing but the summary is read and judged; with its `.wandb` the summary is not read."""
    written(tmp_path / "run-20240102_000000-bbb")
    run = pipeline.diagnose(tmp_path).run

    assert [(source.path, source.format, source.points) for source in run.sources] == [
        ("files/wandb-summary.json", "wandb-summary", 6)
    ]
    (tmp_path / "run-20240102_000000-bbb/run-bbb.wandb").write_bytes(HEADER + record(STEP))
    (tmp_path / "run-20240102_000000-bbb/files/config.yaml").write_text("lr: {value: 0.1}")
    assert [s.path for s in pipeline.read_run(tmp_path).sources] == ["files/config.yaml", "run-bbb.wandb"]
