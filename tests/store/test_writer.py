"""A store is opened for writing by one process at a time, and sound."""

from pathlib import Path

import pytest

from loganalyst.errors import StoreError
from loganalyst.store.tablefiles import Folder
from loganalyst.store.writer import Writer, store_errors


def test_a_second_writer_waits_no_longer_than_its_patience(tmp_path: Path) -> None:
    """Unfinished files are removed first, and the folder is made."""
    place, faults = tmp_path / "store", list[str]()
    first, second = Writer(place, 60.0, faults), Writer(place, 0.0, faults)
    with (
        first.writing(Folder(place)) as state,
        pytest.raises(StoreError, match="another process"),
        second.writing(Folder(place)),
    ):
        pytest.fail("both write")
    (place / "tmp" / "left").touch()
    with second.writing(Folder(place)):
        assert [*(place / "tmp").iterdir()] == []

    assert (faults, first.lost, state.renewed) == ([], set(), False)


def test_errors_of_the_system_name_the_store(tmp_path: Path) -> None:
    with (
        pytest.raises(StoreError, match=r"store: cannot be used as a store \(full\)"),
        store_errors(tmp_path / "store"),
    ):
        raise OSError("full")
