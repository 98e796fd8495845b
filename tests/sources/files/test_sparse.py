"""Sparse files are read without their holes; whole runs of them are in tests/sources/test_bounded.py."""

import os
from pathlib import Path

import pytest

from loganalyst.sources.files.sparse import solid


@pytest.mark.skipif(not hasattr(os, "SEEK_DATA"), reason="the system does not show holes")
def test_data_between_holes_is_copied(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    with path.open("wb") as file:
        file.write(b"begin\n" * 1000)
        file.seek(8 << 20)
        file.write(b"end\n" * 1000)
    with solid(path, holes=1 << 20) as (inner, gap):
        data = inner.read_bytes().replace(b"\0", b"")
        assert (inner.name, inner == path) == ("a.log", False)
        assert data == b"begin\n" * 1000 + b"end\n" * 1000
        assert "a sparse file" in gap["why"][0]
        assert gap["bytes"][0] == path.stat().st_size - inner.stat().st_size > 7 << 20
    assert not inner.exists()


def test_a_file_without_holes_is_read_itself(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(b"x" * 100)
    with solid(tmp_path / "a.log") as (inner, gap):
        assert inner == tmp_path / "a.log"
        assert gap.height == 0
