"""Every file of a run into one set of tables; one bad file never stops the rest."""

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from loganalyst import diagnose
from loganalyst.errors import SourceError
from loganalyst.model import OF_NO_FORMAT, Run
from loganalyst.processes import streams
from loganalyst.processes.worker import DiedError
from loganalyst.sources import ingest as module
from loganalyst.sources.assemble import run_id
from loganalyst.sources.ingest import ingest, only_texts, processes_for

pytestmark = pytest.mark.takes_long

GOOD = "step,loss\n" + "".join(f"{i},{1 / (i + 1)}\n" for i in range(30))


def test_points_carry_their_source(tmp_path: Path) -> None:
    """Rows name the file within the run they came from."""
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "metrics.csv").write_text(GOOD)
    run = ingest(tmp_path)

    assert run.points["source"].unique().to_list() == ["logs/metrics.csv"]
    assert run.points["value"].to_list()[:2] == [1.0, 0.5]


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("bad.csv", b"\x00\x01\x02PK\x03\x04" * 50, "binary"),
        ("empty.csv", b"", "empty file"),
        ("run-x.wandb", b":W&B\xe1\xbe\x00", ""),
        ("events.out.tfevents.1.h", b"\x18\x00\x00\x00\x00\x00\x00\x00\xa3\x7f", ""),
    ],
)
def test_a_bad_file_is_a_gap_and_the_rest_is_read(tmp_path: Path, name: str, content: bytes, why: str) -> None:
    """The good file is read whole; the bad one is named with what is wrong."""
    (tmp_path / "metrics.csv").write_text(GOOD)
    (tmp_path / name).write_bytes(content)
    run = ingest(tmp_path)
    gaps = run.gaps.filter(file=name)

    assert run.points.height == 30
    assert gaps.height >= 1
    assert why in gaps["why"][0]


def test_yaml_bomb_is_refused_and_the_rest_is_read(tmp_path: Path) -> None:
    """A config that expands without end is one gap."""
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    (tmp_path / "config.yaml").write_text("\n".join(levels))
    (tmp_path / "metrics.csv").write_text(GOOD)
    run = ingest(tmp_path)

    assert run.points.height == 30
    assert run.gaps.filter(file="config.yaml").height == 1


def test_nothing_readable_is_one_error(tmp_path: Path) -> None:
    """If no file has a row, the error names the first reasons and what is allowed."""
    (tmp_path / "bad.csv").write_bytes(b"\x00\x01" * 100)

    with pytest.raises(SourceError, match=r"nothing could be read \(bad\.csv: .+\); readable are TensorBoard"):
        ingest(tmp_path)


def test_run_id_is_the_real_path(tmp_path: Path) -> None:
    """A run has one id, however it is named."""
    (tmp_path / "link").symlink_to(tmp_path)

    assert run_id(tmp_path / "link") == run_id(tmp_path)
    assert len(run_id(tmp_path)) == 12


def test_a_log_named_with_the_run(tmp_path: Path) -> None:
    """`diagnose RUN LOG` reads the log into the run and says so."""
    run_dir = tmp_path / "run"
    run_dir.mkdir()
    (run_dir / "metrics.csv").write_text(GOOD)
    log = tmp_path / "slurm-17.out"
    log.write_text("RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n")
    run = ingest(run_dir, [log])

    assert {s.format for s in run.sources} == {"csv", "text"}
    assert run.basis == (f"{log}: named with the run",)


def test_a_file_is_a_run(tmp_path: Path) -> None:
    """A single file is a run of its own, its source the bare name."""
    (tmp_path / "metrics.csv").write_text(GOOD)
    run = ingest(tmp_path / "metrics.csv")

    assert [s.path for s in run.sources] == ["metrics.csv"]


def test_a_checkpoint_named_by_too_many_digits_has_no_step(tmp_path: Path) -> None:
    """A number too large for an Int64 is no step; the run is read all the same."""
    (tmp_path / "metrics.csv").write_text("step,loss\n0,1.0\n1,0.5\n")
    for name in ("step_7.pt", f"step_{'9' * 30}.pt"):
        (tmp_path / name).write_bytes(b"x")

    assert ingest(tmp_path).checkpoints["step"].to_list() == [None, 7]


def test_a_panic_of_polars_costs_its_file_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A panic is no Exception in Python. It becomes a gap of its file, and the other files are read."""

    def panic(_: Path) -> None:
        raise pl.exceptions.PanicException("index out of bounds")

    (tmp_path / "metrics.csv").write_text(GOOD)
    (tmp_path / "config.yaml").write_text("lr: 0.1\n")
    monkeypatch.setattr("loganalyst.sources.config.reader.read", panic)
    run = ingest(tmp_path)

    assert run.points.height == 30
    assert run.gaps["why"].to_list() == ["the reader failed (PanicException: index out of bounds)"]


RANKS = 100


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table of metrics and a log of each rank; one rank failed, and one log is empty."""
    tmp_path = tmp_path_factory.mktemp("ranks")
    for rank in range(RANKS):
        steps = "".join(f"[rank{rank}] step {i} loss {2 + 1 / (i + rank + 1):.4f}\n" for i in range(20))
        fault = "[rank7]: ValueError: bad batch\n" if rank == 7 else ""
        (tmp_path / f"rank_{rank:02}.log").write_text(steps + fault)
    (tmp_path / "rank_09.log").write_bytes(b"")
    (tmp_path / "metrics.csv").write_text("step,val_loss\n1,2.0\n2,1.5\n")
    return tmp_path


@pytest.fixture(scope="module")
def read_here(ranks: Path) -> Run:
    """That run, read by this process alone."""
    with pytest.MonkeyPatch.context() as patch:
        return read_with(patch, 0, ranks)


def read_with(monkeypatch: pytest.MonkeyPatch, spare: int, path: Path) -> Run:
    """The run, read with the help of `spare` other processes."""
    monkeypatch.setattr(module, "spare", lambda: spare)
    return ingest(path)


def assert_same(a: Run, b: Run) -> None:
    """Every table, row by row."""
    for name in (f.name for f in fields(Run)):
        ours, theirs = getattr(a, name), getattr(b, name)
        if isinstance(ours, pl.DataFrame):
            assert_frame_equal(ours, theirs)
        else:
            assert ours == theirs, name


def test_several_processes_read_the_same_run(ranks: Path, read_here: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes, and three."""
    asked: list[int] = []

    def stream(name: str, function: str, files: Any, *more: Any) -> Iterator[Any]:
        asked.append(len(files))
        return real(name, function, files, *more)

    real, expected = streams.stream, read_here
    monkeypatch.setattr(streams, "stream", stream)
    for spare in (1, 2):
        assert_same(read_with(monkeypatch, spare, ranks), expected)

    assert sorted(asked) == [33, 34, 50]
    assert expected.points.height == 20 * (RANKS - 1) + 2


def test_files_of_a_process_that_died_are_read_here(
    ranks: Path, read_here: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is lost, and nothing is there twice."""

    def stream(*asked: Any) -> Iterator[Any]:
        for done, item in enumerate(real(*asked)):
            if done == 5:
                raise DiedError("signal 9")
            yield item

    real, expected = streams.stream, read_here
    monkeypatch.setattr(streams, "stream", stream)

    assert_same(read_with(monkeypatch, 1, ranks), expected)


@pytest.mark.parametrize(("files", "spare", "ways"), [(63, 3, 1), (64, 3, 2), (200, 3, 4), (200, 0, 1)])
def test_a_process_is_started_for_many_files_only(
    monkeypatch: pytest.MonkeyPatch, files: int, spare: int, ways: int
) -> None:
    monkeypatch.setattr(module, "spare", lambda: spare)
    assert processes_for([(Path(f"no/such/{i}.log"), "") for i in range(files)]) == ways


@pytest.mark.parametrize(("name", "size", "ways"), [("a.log", 16, 2), ("a.log", 17, 1), ("a.log.gz", 1, 1)])
def test_large_files_are_read_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, size: int, ways: int
) -> None:
    """Sending their rows would cost too much. A compressed file may hold much more than its size."""
    monkeypatch.setattr(module, "spare", lambda: 1)
    (tmp_path / name).write_bytes(b"x" * size)
    assert processes_for([(tmp_path / name, name)] * 2, min_files=1, max_size=16) == ways


def test_a_text_that_is_the_only_file_is_read_as_a_log(tmp_path: Path) -> None:
    """Nothing in its opening is known, but it was named: its error far below is found."""
    path = tmp_path / "run.txt"
    path.write_text(
        "Start\n\nTraining options:\n{\n" + '  "x": 1,\n' * 20_000 + "RuntimeError: CUDA error: an illegal\n"
    )
    read = ingest(path)

    assert [source.format for source in read.sources] == ["text"]
    assert read.lines["pattern"].to_list() != []


@pytest.mark.parametrize("name", ["sweep.txt", "notes.md", "train.log"])
def test_the_only_text_of_a_folder_is_read_as_a_log(tmp_path: Path, name: str) -> None:
    """Settings are no text. What was understood of the text is said."""
    (tmp_path / "config.json").write_text('{"lr": 0.1}')
    (tmp_path / name).write_text("lr=0.1 gives the best\nMemoryError\n")
    read = ingest(tmp_path)

    assert [source.format for source in read.sources] == ["config", "text"]
    assert read.lines.select("line", "pattern").rows() == [(2, "host-allocation-failed")]


def test_a_text_of_no_known_format_says_what_is_read(tmp_path: Path) -> None:
    """It does not say that a run died before its first step."""
    (tmp_path / "config.json").write_text('{"lr": 0.1}')
    (tmp_path / "sweep.txt").write_text("lr=0.1 wd=0.01 -> best 0.812\n")

    assert ingest(tmp_path).gaps.select("file", "why").rows() == [("sweep.txt", OF_NO_FORMAT)]
    assert diagnose(tmp_path).status == "insufficient_data"


def test_one_of_several_texts_is_not_the_only_one() -> None:
    files = [(Path(name), name) for name in ("config.yaml", "a.txt", "b.txt", "log")]
    assert only_texts(files) == frozenset()
    assert only_texts(files, ["log"]) == {"log"}
    assert only_texts(files[:2]) == {"a.txt"}
    assert only_texts(files[3:]) == {"log"}


def test_a_program_that_is_the_only_file_is_no_log(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("import torch\n")

    with pytest.raises(SourceError, match="no known log format"):
        ingest(path)
