"""The readers, and the choice of the reader for a file."""

from pathlib import Path

import pytest

from loganalyst.sources.formats import Several, formats, likeliest, points_of, reader, reader_of, runs_in


def test_every_format_has_one_reader() -> None:
    names = [module.NAME for module in formats()]

    assert len(names) == len(set(names))
    assert {"csv", "json", "parquet", "tensorboard", "text", "wandb", "mlflow", "slurm", "config"} <= set(names)
    assert all(callable(module.sniff) and callable(module.read) for module in formats())


@pytest.mark.parametrize(
    ("name", "head", "format_"),
    [
        ("metrics.csv", b"step,loss\n0,1.5\n1,1.25\n", "csv"),
        ("log.jsonl", b'{"step": 0, "loss": 1.5}\n', "json"),
        ("config.yaml", b"lr: 0.1\n", "config"),
        ("train.log", b"epoch 1 loss 0.5\nepoch 2 loss 0.4\n", "text"),
    ],
)
def test_the_reader_of_a_file(name: str, head: bytes, format_: str) -> None:
    found = reader(Path(name), head)

    assert found is not None
    assert format_ == found.NAME
    assert likeliest(Path(name), head)[1] is found


def test_binary_data_has_no_reader() -> None:
    assert reader(Path("a.bin"), b"\x00\x01\x02" * 100) is None


def test_the_points_of_a_file(tmp_path: Path) -> None:
    """A file that is not there has no reader, and so no points."""
    (tmp_path / "metrics.csv").write_text("step,loss\n0,1.5\n1,1.25\n")

    assert [value for points in points_of(tmp_path / "metrics.csv") for value in points["value"]] == [1.5, 1.25]
    assert list(points_of(tmp_path / "lost.csv")) == []
    assert reader_of(tmp_path / "lost.csv") == (0.0, None)


def test_only_some_formats_hold_several_runs(tmp_path: Path) -> None:
    (tmp_path / "metrics.csv").write_text("step,loss\n0,1\n")

    assert runs_in(tmp_path / "metrics.csv") == Several()
    assert runs_in(tmp_path / "missing.db") == Several()
