"""Dates that are logged as numbers."""

import polars as pl

from loganalyst.anonymous.clocks import without_dates


def test_dates_that_are_logged_as_numbers_are_shifted() -> None:
    """A metric of timestamps and steps that are seconds since 1970 begin at 0; a count of tokens stays as it is."""
    at = 1_750_000_000
    metrics = ["_timestamp", "_timestamp", "loss"]
    rows = pl.DataFrame({"metric": metrics, "step": [at, at + 60, at + 90], "value": [at, at + 60, 0.5]}, strict=False)
    tokens = pl.DataFrame({"metric": ["loss"] * 3, "step": [0, at, 2 * at], "value": [1.0, 1.0e9, 2.0e9]})
    moved = without_dates(rows)

    assert moved["value"].to_list() == [0.0, 60.0, 0.5]
    assert moved["step"].to_list() == [0, 60, 90]
    assert without_dates(tokens).equals(tokens)
    assert without_dates(rows.clear()).height == 0
