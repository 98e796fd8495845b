"""Every file of a run into one set of tables; one bad file never stops the rest."""

from pathlib import Path

import polars as pl
import pytest

from loganalyst.errors import SourceError
from loganalyst.sources.assemble import run_id
from loganalyst.sources.ingest import ingest

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
    """Where no file gives a row, the error names the first reasons and what is allowed."""
    (tmp_path / "bad.csv").write_bytes(b"\x00\x01" * 100)

    with pytest.raises(SourceError, match=r"nothing could be read \(bad\.csv: .+\); readable are TensorBoard"):
        ingest(tmp_path)


def test_run_id_is_the_real_path(tmp_path: Path) -> None:
    """A run has one id by whatever way it is named."""
    (tmp_path / "link").symlink_to(tmp_path)

    assert run_id(tmp_path / "link") == run_id(tmp_path)
    assert len(run_id(tmp_path)) == 12


def test_log_named_beside_the_run(tmp_path: Path) -> None:
    """`diagnose RUN LOG` reads the log into the run and says so."""
    run_dir = tmp_path / "run"
    run_dir.mkdir()
    (run_dir / "metrics.csv").write_text(GOOD)
    log = tmp_path / "slurm-17.out"
    log.write_text("RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n")
    run = ingest(run_dir, [log])

    assert {s.format for s in run.sources} == {"csv", "text"}
    assert run.basis == (f"{log}: named beside the run",)


def test_a_file_is_a_run(tmp_path: Path) -> None:
    """A single file is a run of its own, its source the bare name."""
    (tmp_path / "metrics.csv").write_text(GOOD)
    run = ingest(tmp_path / "metrics.csv")

    assert [s.path for s in run.sources] == ["metrics.csv"]


def test_a_checkpoint_named_by_too_many_digits_has_no_step(tmp_path: Path) -> None:
    """A number that no Int64 holds is not taken for a step; the run is read all the same."""
    (tmp_path / "metrics.csv").write_text("step,loss\n0,1.0\n1,0.5\n")
    for name in ("step_7.pt", f"step_{'9' * 30}.pt"):
        (tmp_path / name).write_bytes(b"x")

    assert ingest(tmp_path).checkpoints["step"].to_list() == [None, 7]


def test_a_panic_of_polars_costs_its_file_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A panic is no Exception to Python; the file's gap tells of it, the others are read."""

    def panic(_: Path) -> None:
        raise pl.exceptions.PanicException("index out of bounds")

    (tmp_path / "metrics.csv").write_text(GOOD)
    (tmp_path / "config.yaml").write_text("lr: 0.1\n")
    monkeypatch.setattr("loganalyst.sources.config.reader.read", panic)
    run = ingest(tmp_path)

    assert run.points.height == 30
    assert run.gaps["why"].to_list() == ["the reader failed (PanicException: index out of bounds)"]
