"""Logged rows as `points`: one point for each number, under its whole name."""

from collections.abc import Iterable, Mapping

import polars as pl

from loganalyst.model import SCHEMAS, table
from loganalyst.sources.files.constantcolumns import Constants
from loganalyst.sources.tables.namecolumns import full_name, words_in

_POINT = ["session", "line", "step", "epoch", "time"]


def points(index: pl.DataFrame, long: pl.DataFrame, texts: Mapping[str, pl.Series], source: str) -> pl.DataFrame:
    """`points` rows in file order.

    `index`: session, line, step, epoch and time of each logged row. `long`: row (position in `index`), metric, value.
    `texts`: columns that may hold a part of the data or a metric's name.
    """
    if not long.height:
        return table("points")
    words = words_in(texts, index["step"])
    rows = index.select(_POINT).with_columns(column.alias(word) for word, column in words.items())[long["row"]]
    frame = rows.with_columns(long["metric"], long["value"], source=pl.lit(source))
    named = frame.with_columns(metric=full_name(words))
    return named.select([pl.col(name).cast(dtype) for name, dtype in SCHEMAS["points"].items()])


def wide_points(
    index: pl.DataFrame,
    values: Mapping[str, pl.Series],
    texts: Mapping[str, pl.Series],
    source: str,
    constants: Constants,
) -> pl.DataFrame:
    """`points` rows, metric after metric, from one Float64 column per metric.

    `index`: session, line, step, epoch and time of each row. `texts`: columns that may hold a part or a metric's name.
    Columns shared by all metrics are not copied. Columns with one value come from the file's `constants`.
    """
    if not values:
        return table("points")
    rows, every = index.height, index.height * len(values)
    words = words_in(texts, index["step"])
    long = {name: pl.concat([column] * len(values)) for name, column in [*index.to_dict().items(), *words.items()]}
    long |= {n: constants.column(None, every, column.dtype) for n, column in long.items() if not column.count()}
    long["metric"] = pl.concat([constants.column(name, rows, pl.String) for name in values])
    long["value"] = pl.concat(list(values.values()))
    long["source"] = constants.column(source, every, pl.String)
    frame = pl.DataFrame([long[name].alias(name) for name in [*SCHEMAS["points"], *words]])
    if long["value"].null_count():
        frame = frame.drop_nulls("value")
    return frame.with_columns(metric=full_name(words)).select(SCHEMAS["points"].names()) if words else frame


def batches(frame: pl.DataFrame, size: int = 1_000_000) -> Iterable[pl.DataFrame]:
    """The frame in pieces of at most `size` rows; no piece for an empty frame."""
    return frame.iter_slices(size) if frame.height else ()


def column_of(long: pl.DataFrame, name: str, rows: int) -> pl.Series:
    """One metric of a long frame (row, metric, value) as a column of `rows` values. Of duplicates the first counts."""
    found = long.filter(pl.col("metric") == name).unique("row", keep="first", maintain_order=True)
    index = pl.DataFrame({"row": pl.int_range(rows, dtype=pl.Int64, eager=True)})
    return index.join(found, on="row", how="left", maintain_order="left")["value"]
