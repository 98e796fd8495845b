"""The parts of a rotated log are one log, compressed or not."""

import gzip
from pathlib import Path

import pytest

from loganalyst.sources.discovery import rotation
from loganalyst.sources.discovery.runs import runs
from loganalyst.sources.filetables import Facts
from loganalyst.sources.ingest import ingest
from loganalyst.sources.runsessions import shifts


def lines(begin: int, end: int) -> str:
    return "".join(f"2026-01-01 00:00:{i % 60:02d} INFO step {i} loss {3 / (i + 1):.4f}\n" for i in range(begin, end))


def rotated(folder: Path, name: str) -> None:
    folder.mkdir()
    (folder / name).write_text(lines(200, 300))
    (folder / f"{name}.1").write_text(lines(100, 200))
    (folder / f"{name}.2.gz").write_bytes(gzip.compress(lines(0, 100).encode()))


@pytest.mark.parametrize("name", ["train.log", "my_exp.log", "slurm-17.out"])
def test_parts_are_one_run_in_time_order(tmp_path, name):
    """The oldest part comes first, the steps continue, and no part counts as a start."""
    rotated(tmp_path / "run", name)
    run = ingest(tmp_path / "run")

    assert [[f.name for f in found.files] for found in runs(tmp_path / "run")] == [[f"{name}.2.gz", f"{name}.1", name]]
    assert run.points["step"].to_list() == list(range(300))
    assert run.points["session"].unique().to_list() == [0]
    assert run.gaps.height == 0


def test_sessions_count_on():
    """A part begins in the session in which the one before it ends; the newest ends in the last session of the run."""
    parts = {"a.log": 0, "a.log.1": 2, "a.log.2.gz": 1, "other.log": 1}
    found = shifts([("text", source, Facts(last_session=last)) for source, last in parts.items()])

    assert dict(zip(parts, found, strict=True)) == {"a.log.2.gz": 0, "a.log.1": 1, "a.log": 3, "other.log": 2}


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("a/train.log", ("a/train.log", 0)),
        ("a/train.log.12", ("a/train.log", 12)),
        ("train.log.2.gz", ("train.log", 2)),
        ("slurm-17.out.1.zst", ("slurm-17.out", 1)),
        ("metrics.csv.gz", ("metrics.csv", 0)),
        ("version_2", ("version_2", 0)),
    ],
)
def test_part_of(name, part):
    """The number after a log's suffix is its age."""
    assert rotation.part_of(name) == part
