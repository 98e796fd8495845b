"""The columns and axes of one Parquet file."""

from pathlib import Path

import polars as pl

from loganalyst.model import Tables
from loganalyst.sources.tables.parquettable import ParquetTable, Place, short_error


def table(folder: Path, frame: pl.DataFrame) -> ParquetTable:
    frame.write_parquet(folder / "history.parquet")
    return ParquetTable(folder / "history.parquet", 2, 100)


def test_each_place_is_sent_before_it_is_read(tmp_path: Path) -> None:
    """The axes of a window first, then its metrics; fields of a struct are metrics."""
    frame = pl.DataFrame({"_step": [1, 2, 3], "eval": [{"loss": 0.5}, {"loss": 0.4}, {"loss": 0.3}]})
    events = [*table(tmp_path, frame).windows(Place(), ())]
    points = pl.concat([event.points for event in events if isinstance(event, Tables)])

    assert [event for event in events if isinstance(event, Place)] == [
        *(Place(0), Place(0, ["eval/loss"]), Place(2), Place(2, ["eval/loss"]))
    ]
    assert points.select("metric", "step", "value").rows() == [
        ("eval/loss", 1, 0.5),
        ("eval/loss", 2, 0.4),
        ("eval/loss", 3, 0.3),
    ]


def test_columns_that_are_not_read_are_named(tmp_path: Path) -> None:
    """Without a counter there is no table of metrics."""
    counted = table(tmp_path, pl.DataFrame({"step": [1], "loss": [0.5], "done": [True]}))
    (left,) = counted.left_out()

    assert counted.refused() == ""
    assert left.gaps["why"].to_list() == ["1 columns are not numeric: done (Boolean)"]
    assert table(tmp_path, pl.DataFrame({"width": [3]})).refused() == (
        "not a table of metrics: no column counts steps, epochs or time (columns: width)"
    )


def test_an_error_is_one_short_line() -> None:
    assert short_error(OSError("a\n  b " + "c" * 300)) == "a b " + "c" * 196
