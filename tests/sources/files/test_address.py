"""Addresses of runs in a file."""

from pathlib import Path

from loganalyst.sources.files.address import split


def test_an_address_names_a_file_and_a_run(tmp_path: Path) -> None:
    (tmp_path / "mlflow.db").touch()
    (tmp_path / "a#b").touch()

    assert split(tmp_path / "mlflow.db#3f9a") == (tmp_path / "mlflow.db", "3f9a")
    assert split(tmp_path / "mlflow.db") == (tmp_path / "mlflow.db", "")
    assert split(tmp_path / "a#b") == (tmp_path / "a#b", "")  # a file of this name
    assert split(tmp_path / "missing#3f9a") == (tmp_path / "missing#3f9a", "")
