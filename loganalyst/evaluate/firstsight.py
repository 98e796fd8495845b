"""Answers for public runs as they were given at first sight, by which confidence in what metrics tell is calibrated.

Rules learn from runs that were looked at: judged again today, these would flatter them. So the answers are kept.
"""

from pathlib import Path

import polars as pl

from loganalyst.errors import SourceError

COLUMNS = {
    "source": pl.String(),
    "labels": pl.String(),  # the right answers, ";" between them
    "said": pl.String(),  # the rule of the first cause
    "kind": pl.String(),  # the scale of it
    "confidence": pl.Float64(),  # of it, before calibration
    "first": pl.Boolean(),  # whether it is right
}


def is_table(place: Path) -> bool:
    """Whether a table holds answers, not features."""
    return place.suffix == ".csv" and "said" in pl.read_csv(place, n_rows=0).columns


def read(table: Path) -> pl.DataFrame:
    """The answers of a table with COLUMNS. Raises SourceError for other columns."""
    rows = pl.read_csv(table, schema_overrides=COLUMNS)
    if rows.columns != [*COLUMNS]:
        raise SourceError(table, f"has columns {', '.join(rows.columns)}", f"it takes {', '.join(COLUMNS)}")
    return rows
