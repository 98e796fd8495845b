"""Answers for public runs at first sight, which calibrate the confidence of causes seen in metrics.

The rules were improved on these runs afterwards. New answers for them would be too good, so the first ones are kept.
"""

from pathlib import Path

import polars as pl

from loganalyst.errors import SourceError

COLUMNS = {
    "source": pl.String(),
    "labels": pl.String(),  # the right answers, separated by ";"
    "said": pl.String(),  # the rule of the first cause
    "kind": pl.String(),  # the scale of the first cause
    "confidence": pl.Float64(),  # of the first cause, before calibration
    "first": pl.Boolean(),  # whether the first cause is right
}


def is_table(place: Path) -> bool:
    """Whether a table holds answers, not features."""
    return place.suffix == ".csv" and "said" in pl.read_csv(place, n_rows=0).columns


def read(table: Path) -> pl.DataFrame:
    """The answers of a table. Raises SourceError if its columns are not COLUMNS."""
    rows = pl.read_csv(table, schema_overrides=COLUMNS)
    if rows.columns != [*COLUMNS]:
        raise SourceError(table, f"has columns {', '.join(rows.columns)}", f"it takes {', '.join(COLUMNS)}")
    return rows
