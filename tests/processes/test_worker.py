"""A worker finds modules where this process does."""

import sys
from pathlib import Path

import pytest

from loganalyst.processes.worker import Worker, load


def test_nothing_is_imported_from_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be a run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    (tmp_path / "no_such_module.py").write_text("")
    worker = Worker()
    with pytest.raises(ModuleNotFoundError):
        list(worker.stream(load.__module__, load.__name__, "no_such_module"))
    assert worker.end() == 0
