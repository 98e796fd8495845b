"""Metrics printed in the lines of a job log, recognised from the lines themselves."""

import polars as pl

from loganalyst.model import table


def parse(lines: pl.DataFrame) -> pl.DataFrame:
    """The numbers a training printed, in the `points` schema and in file order (`source` NULL).

    `lines` has line (Int64, from 1), text (String: decoded, without ANSI codes, CR refreshes as rows of their own that
    share a line number), session (Int32) and time (µs UTC or NULL). Never raises on any text.
    """
    _ = lines
    return table("points")
