"""The files of a run become one run."""

import os
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from pathlib import Path

import pytest

from loganalyst.errors import SourceError
from loganalyst.model import Tables, table
from loganalyst.sources.assemble import MIN_SILENCE, id_of, places, relative, run_id, silence
from loganalyst.sources.files.rowspool import Spool
from loganalyst.sources.filetables import Gathering, Part, Place
from loganalyst.sources.ingest import ingest

NOW = datetime.now(UTC).replace(microsecond=0)


def part(source: str, format_: str, times: list[datetime], metric: str = "loss") -> Part:
    rows = Gathering(Spool())
    count = len(times)
    rows.take([Tables(points=table("points", {"metric": [metric] * count, "value": 1.0, "session": 0, "time": times}))])
    return rows.part(source, format_, 1)


def test_the_id_of_a_run_is_that_of_its_real_path(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "link").symlink_to("a")

    assert run_id(tmp_path / "link") == run_id(tmp_path / "a") == id_of(os.path.realpath(tmp_path / "a"))
    assert id_of("/runs/a") == blake2b(b"/runs/a").hexdigest()[:12]


@pytest.mark.parametrize(
    ("file", "name"),
    [("/runs/a/logs/x.csv", "logs/x.csv"), ("/elsewhere/x.log", "/elsewhere/x.log"), ("/runs/a/\udce9.csv", "?.csv")],
)
def test_relative_paths(file: str, name: str) -> None:
    assert relative(Path(file), Path("/runs/a")) == name


def test_event_files_name_metrics_after_folders() -> None:
    files = [part("tb/train/e.1", "tensorboard", [NOW]), part("tb/val/e.2", "tensorboard", [NOW])]

    assert places(files) == [Place(0, "train/"), Place(0, "val/")]


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("step=500.ckpt", 500),
        ("checkpoint-7/model.pt", 7),
        ("iter_0500.pt", 500),
        ("last.pt", None),
        (f"step_{'9' * 19}.pt", None),
    ],
)
def test_steps_of_checkpoints(tmp_path: Path, name: str, step: int | None) -> None:
    (tmp_path / "run" / name).parent.mkdir(parents=True)
    (tmp_path / "run/metrics.csv").write_text("step,loss\n0,1\n1,0.5\n")
    (tmp_path / "run" / name).write_bytes(b"x")
    found = ingest(tmp_path / "run").checkpoints

    assert found.select("path", "step", "size", "readable").rows() == [(name, step, 1, True)]


@pytest.mark.parametrize(
    ("minutes", "status"),
    [([1], "running"), ([20, 1], "running"), ([90, 60, 30], "running"), ([62, 61, 60], "unknown")],
)
def test_a_run_is_running_while_its_silence_is_usual(tmp_path: Path, minutes: list[int], status: str) -> None:
    now = datetime.now(UTC)
    rows = [f"{now - timedelta(minutes=m):%Y-%m-%d %H:%M:%S} step {i} loss 0.5\n" for i, m in enumerate(minutes)]
    (tmp_path / "train.log").write_text("".join(rows))

    assert ingest(tmp_path).status == status


def test_silence_is_five_usual_intervals() -> None:
    every_minute = [NOW + timedelta(minutes=i) for i in range(5)]
    every_hour = [NOW + timedelta(hours=i) for i in range(5)]

    assert silence([part("a", "csv", every_minute)]) == MIN_SILENCE
    assert silence([part("a", "csv", every_hour)]) == timedelta(hours=5)
    assert silence([part("a", "csv", [])]) == MIN_SILENCE


def test_a_reason_is_given_once(tmp_path: Path) -> None:
    """A file of one long line is read in pieces, and each piece fails alike."""
    file = tmp_path / "long.jsonl"
    file.write_text('{"step": 1, "loss": [' + ", ".join(["0.5"] * 4_000_000) + "]}\n")

    with pytest.raises(SourceError) as raised:
        ingest(file)
    assert raised.value.what == "nothing could be read (long.jsonl: not a JSON object in line 1)"
