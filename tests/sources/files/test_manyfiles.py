"""A run of many files is read by several processes, and is the same run."""

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from loganalyst.model import Run
from loganalyst.sources.files import isolated, manyfiles
from loganalyst.sources.ingest import ingest

RANKS = 70


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A folder with a log of each rank, of which one failed and one cannot be read, and a table of metrics."""
    for rank in range(RANKS):
        steps = "".join(f"[rank{rank}] step {i} loss {2 + 1 / (i + rank + 1):.4f}\n" for i in range(20))
        fault = "[rank7]: ValueError: bad batch\n" if rank == 7 else ""
        (tmp_path / f"rank_{rank:02}.log").write_text(steps + fault)
    (tmp_path / "rank_09.log").write_bytes(b"")
    (tmp_path / "metrics.csv").write_text("step,val_loss\n1,2.0\n2,1.5\n")
    return tmp_path


def alone(monkeypatch: pytest.MonkeyPatch, path: Path) -> Run:
    with monkeypatch.context() as patched:
        patched.setattr(manyfiles, "spare", lambda: 0)
        return ingest(path)


def assert_same(a: Run, b: Run) -> None:
    """Every table, row by row."""
    for name in (f.name for f in fields(Run)):
        ours, theirs = getattr(a, name), getattr(b, name)
        if isinstance(ours, pl.DataFrame):
            assert_frame_equal(ours, theirs)
        else:
            assert ours == theirs, name


def test_several_processes_read_the_same_run(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With another process beside this one, and with two."""
    asked: list[int] = []

    def each(module: str, function: str, files: Any, *more: Any) -> Iterator[Any]:
        asked.append(len(files))
        return real(module, function, files, *more)

    real, expected = isolated.each, alone(monkeypatch, run)
    monkeypatch.setattr(isolated, "each", each)
    monkeypatch.setattr(manyfiles, "spare", lambda: 1)
    assert_same(ingest(run), expected)
    monkeypatch.setattr(manyfiles, "FEWEST", 20)
    monkeypatch.setattr(manyfiles, "spare", lambda: 2)
    assert_same(ingest(run), expected)

    assert sorted(asked) == [23, 24, 35]
    assert expected.points.height == 20 * (RANKS - 1) + 2


def test_what_a_process_did_not_read_before_it_died_is_read_here(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is lost, and nothing is there twice."""

    def each(*asked: Any) -> Iterator[Any]:
        for done, item in enumerate(real(*asked)):
            if done == 5:
                raise isolated.DiedError("signal 9")
            yield item

    real, expected = isolated.each, alone(monkeypatch, run)
    monkeypatch.setattr(isolated, "each", each)
    monkeypatch.setattr(manyfiles, "spare", lambda: 1)

    assert_same(ingest(run), expected)


def test_few_files_and_large_ones_are_read_here(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process would not be worth its start, or the way of what it read."""

    def each(*_asked: Any) -> Iterator[Any]:
        raise AssertionError("nobody is to be asked")

    monkeypatch.setattr(isolated, "each", each)
    monkeypatch.setattr(manyfiles, "spare", lambda: 3)
    monkeypatch.setattr(manyfiles, "LARGEST", 100)
    assert len(ingest(run).sources) == RANKS + 1
    monkeypatch.undo()
    monkeypatch.setattr(manyfiles, "FEWEST", 40)
    monkeypatch.setattr(manyfiles, "spare", lambda: 3)
    monkeypatch.setattr(isolated, "each", each)
    assert len(ingest(run).sources) == RANKS + 1
