"""Logged rows as points, under their whole names."""

import polars as pl

from loganalyst.sources.files.constantcolumns import Constants
from loganalyst.sources.tables import namedpoints

INDEX = pl.DataFrame(
    {"session": [0, 0], "line": [2, 3], "step": [10, 20], "epoch": [None, None], "time": [None, None]},
    schema_overrides={"epoch": pl.Float64, "time": pl.Datetime("us", "UTC")},
)
SPLIT = {"split": pl.Series(["train", "val"])}


def rows(found: pl.DataFrame) -> list[tuple[str, int, float]]:
    return found.select("metric", "step", "value").rows()


def test_a_part_of_the_data_goes_before_the_name() -> None:
    long = pl.DataFrame({"row": [0, 1], "metric": ["loss", "loss"], "value": [0.5, 0.6]})
    found = namedpoints.points(INDEX, long, SPLIT, "a.csv")

    assert rows(found) == [("train/loss", 10, 0.5), ("val/loss", 20, 0.6)]
    assert found["source"].unique().to_list() == ["a.csv"]


def test_wide_columns_are_one_metric_after_another() -> None:
    values = {"loss": pl.Series([0.5, None]), "acc": pl.Series([0.8, 0.9])}
    found = namedpoints.wide_points(INDEX, values, {}, "a.csv", Constants())

    assert rows(found) == [("loss", 10, 0.5), ("acc", 10, 0.8), ("acc", 20, 0.9)]


def test_no_rows_are_no_points() -> None:
    empty = pl.DataFrame(schema={"row": pl.Int64, "metric": pl.String, "value": pl.Float64})

    assert namedpoints.points(INDEX, empty, {}, "a.csv").is_empty()
    assert [*namedpoints.batches(INDEX.head(0))] == []


def test_one_metric_as_a_column() -> None:
    long = pl.DataFrame({"row": [1, 1], "metric": ["loss", "loss"], "value": [0.6, 0.7]})

    assert namedpoints.column_of(long, "loss", 3).to_list() == [None, 0.6, None]
