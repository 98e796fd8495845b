"""Gaps as rows."""

from loganalyst.model import table
from loganalyst.sources.files.gaps import Gap, gap_table


def test_rows_are_sorted_by_offset() -> None:
    found = gap_table([Gap(9, 1, "b"), Gap(0, 4, "a")], "x.log")

    assert found.rows() == [("x.log", 0, 4, "a"), ("x.log", 9, 1, "b")]
    assert gap_table([], "x.log").equals(table("gaps"))
