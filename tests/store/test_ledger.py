"""Seals notice changed files; the ledger notices its own damage."""

import os
from pathlib import Path

import pytest

from loganalyst.store import ledger
from loganalyst.store.ledger import DamagedError, Ledger, broken, seal


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda file: None, ""),
        (lambda file: os.utime(file, (1, 1)), ""),  # as in a copied store: the content decides
        (lambda file: file.write_bytes(b"x" * 19 + b"y"), "was changed"),
        (lambda file: file.write_bytes(b"x" * 21), "has 21 bytes, not 20"),
        (lambda file: file.unlink(), "is gone"),
        (lambda file: (file.unlink(), file.mkdir()), "is no file"),
    ],
)
def test_a_seal_holds_for_the_same_content(tmp_path: Path, change, why: str) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "points.parquet"
    file.write_bytes(b"x" * 20)
    sealed = seal(file)
    change(file)
    if why == "was changed":
        os.utime(file, (1, 1))

    assert broken(file, sealed) == why


def test_a_ledger_comes_back(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"abc")
    written = Ledger({"runs": {"1.parquet": seal(tmp_path / "a.parquet")}}, {}, {"3f9a1c02b7de": 7})
    (tmp_path / ledger.NAME).write_bytes(written.text())

    assert ledger.load(tmp_path) == written
    assert ledger.read(ledger.written(written.segments["runs"])) == written.segments["runs"]
    assert ledger.read(None) == {}


@pytest.mark.parametrize("at", [0, 10, -1])
def test_a_flipped_byte_of_the_ledger_is_damage(tmp_path: Path, at: int) -> None:
    data = bytearray(Ledger(dropped={"3f9a1c02b7de": 7}).text())
    data[at] ^= 1
    (tmp_path / ledger.NAME).write_bytes(data)

    with pytest.raises(DamagedError, match="is damaged"):
        ledger.load(tmp_path)


def test_a_missing_ledger_is_damage_only_where_segments_exist(tmp_path: Path) -> None:
    assert ledger.load(tmp_path) == Ledger()
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/1.parquet").touch()

    with pytest.raises(DamagedError, match="is gone"):
        ledger.load(tmp_path)
