"""Columns of one value share their memory."""

import polars as pl

from loganalyst.sources.files.constantcolumns import Constants


def test_columns_of_one_value() -> None:
    constants = Constants()

    assert constants.column("a", 2, pl.String).to_list() == ["a", "a"]
    assert constants.column("a", 3, pl.String).to_list() == ["a", "a", "a"]
    assert constants.column("a", 1, pl.String).to_list() == ["a"]
    assert constants.column(None, 2, pl.Int64).dtype == pl.Int64
    assert constants.column(1, 2, pl.Int32).dtype == pl.Int32
    assert constants.column(1, 2, pl.Float64).to_list() == [1.0, 1.0]
