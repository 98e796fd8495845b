"""A segment is named after the stamps that it covers."""

from pathlib import Path

import polars as pl

from loganalyst.store.segments import SEGMENT, first, holding, joined, last, readable


def test_the_name_of_a_segment_has_its_stamps() -> None:
    """That of one batch has one stamp, a compacted one has the newest and the oldest."""
    one, several = Path("150.parquet"), Path("140-110.parquet")

    assert [(first(file), last(file)) for file in (one, several)] == [(150, 150), (110, 140)]
    assert holding([120], [one, several]) == [several]
    assert holding([150, 160], [one, several]) == [one]
    assert SEGMENT.fullmatch("notes.parquet") is None


def test_rows_get_all_columns(tmp_path: Path) -> None:
    """A damaged file is not readable."""
    rows = joined("sources", [pl.DataFrame({"run_id": ["a"], "path": ["a.csv"]})])
    rows.write_parquet(tmp_path / "150.parquet")
    (tmp_path / "140.parquet").write_bytes((tmp_path / "150.parquet").read_bytes()[:-20])

    assert rows.columns[:2] == ["run_id", "path"]
    assert rows["format"].to_list() == [None]
    assert [readable(tmp_path / name) for name in ("150.parquet", "140.parquet")] == [True, False]
