"""Limits of one run among many."""

import os
from math import inf
from pathlib import Path

import pytest

from loganalyst import limits
from loganalyst.limits import WORKER, between_holes, processors, share, spare


@pytest.mark.parametrize(("memory", "runs", "expected"), [(1000, 1, 800), (1000, 4, 200), (None, 4, inf), (0, 4, inf)])
def test_share_of_memory(memory: float | None, runs: int, expected: float) -> None:
    assert share(memory, runs) == expected


def test_a_worker_has_no_spare_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "processors", lambda: 4)
    monkeypatch.delenv(WORKER, raising=False)
    assert spare() == 3
    monkeypatch.setenv(WORKER, "1")

    assert spare() == 0


def test_processors() -> None:
    assert 1 <= processors() <= (os.cpu_count() or 1)


@pytest.mark.skipif(not hasattr(os, "SEEK_DATA"), reason="the system does not show holes")
def test_between_holes(tmp_path: Path) -> None:
    """A file with few holes has none that count."""
    path, mib = tmp_path / "a", 1 << 20
    with path.open("wb") as file:
        file.write(b"x" * 4096)
        file.seek(8 * mib)
        file.write(b"x" * 4096)
    found = between_holes(path, holes=mib)

    assert found is not None
    assert [begin for begin, _ in found] == [0, 8 * mib]
    assert found[-1][1] == path.stat().st_size
    assert between_holes(path, holes=9 * mib) is None
    path.write_bytes(b"x" * mib)
    assert between_holes(path, holes=1) is None
