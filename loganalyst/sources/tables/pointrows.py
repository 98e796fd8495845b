"""Rows of one file in the columns of the `points` table."""

import polars as pl

from loganalyst.model import SCHEMAS


def as_points(rows: pl.DataFrame, source: str) -> pl.DataFrame:
    """The `points` of a file named `source`: all of the first session, with NULL for the columns that `rows` lacks.

    >>> as_points(pl.DataFrame({"metric": ["loss"], "step": [3], "value": [0.5]}), "log.txt").row(0)
    (0, 'loss', 3, None, None, 0.5, 'log.txt', None)
    """
    given = rows.with_columns(session=pl.lit(0), source=pl.lit(source))
    return given.select(
        (pl.col(name) if name in given.columns else pl.lit(None)).cast(dtype).alias(name)
        for name, dtype in SCHEMAS["points"].items()
    )
