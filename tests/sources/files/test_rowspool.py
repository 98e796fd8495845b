"""Rows in memory and on disk."""

from pathlib import Path

import polars as pl
import pytest

from loganalyst.sources.files import rowspool
from loganalyst.sources.files.rowspool import Rows, Spool, slices


def test_rows_beyond_the_limit_go_to_disk(tmp_path: Path) -> None:
    """Nothing is left in the folder: the file has no name."""
    spool = Spool(tmp_path / "new", held=5)
    kept = [spool.keep(pl.DataFrame({"x": [i, i + 1, i + 2]})) for i in range(0, 9, 3)]

    assert spool.spilled
    assert [frame["x"].to_list() for rows in kept for frame in rows.frames()] == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    assert [rows.height for rows in kept] == [3, 3, 3]
    assert list((tmp_path / "new").iterdir()) == []


def test_without_a_limit_all_rows_stay_in_memory() -> None:
    spool = Spool()
    frame = pl.DataFrame({"x": range(1000)})
    rows = spool.keep(frame)

    assert not spool.spilled
    assert next(rows.frames()) is frame


def test_rows_on_disk_come_in_groups(tmp_path: Path) -> None:
    rows = Rows(pl.DataFrame({"x": range(rowspool.GROUP_ROWS + 1)}))
    with (tmp_path / "rows").open("w+b") as file:
        rows.spill(file)
        rows.spill(file)  # does nothing the second time
        assert [frame.height for frame in rows.frames()] == [rowspool.GROUP_ROWS, 1]


@pytest.mark.parametrize(("start", "height", "heights"), [(0, 10, [4, 4, 2]), (3, 4, [4]), (9, 1, [1]), (5, 0, [])])
def test_slices_of_a_file(tmp_path: Path, start: int, height: int, heights: list[int]) -> None:
    pl.DataFrame({"x": range(10)}).write_parquet(tmp_path / "x.parquet")
    found = list(slices(tmp_path / "x.parquet", start, height, group=4))

    assert [frame.height for frame in found] == heights
    assert [x for frame in found for x in frame["x"]] == list(range(start, start + height))
