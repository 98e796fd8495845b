"""Answers for public runs at first sight, which count in the calibration.

The rules were improved on these runs afterwards. New answers for them would be too good, so the first ones are kept.
"""

from pathlib import Path

import polars as pl

from loganalyst.errors import SourceError

SOURCE_ANSWERS = 30  # a source counts at most as much as this many answers: today's rules are better
CUT, BELOW = 0.5, 0.27  # of "healthy": smaller values were kept as 0.5; 0.27 is the median of those today
COLUMNS = {
    "source": pl.String(),
    "labels": pl.String(),  # the right answers, separated by ";"; empty where they are not ours to publish
    "said": pl.String(),  # the rule of the first cause; empty without a cause
    "kind": pl.String(),  # the scale of the answer
    "confidence": pl.Float64(),  # of the answer, before calibration
    "first": pl.Boolean(),  # whether the answer is right
    "group": pl.String(),  # the kind of run (`calibrationkind`), if known
}


def is_table(place: Path) -> bool:
    """Whether a table holds answers, not features."""
    return place.suffix == ".csv" and "said" in pl.read_csv(place, n_rows=0).columns


def read(table: Path) -> pl.DataFrame:
    """The answers of a table, with the probability before calibration (`stated`) and how often each counts (`count`).

    Raises SourceError if its columns are not COLUMNS.
    """
    rows = pl.read_csv(table, schema_overrides=COLUMNS)
    if rows.columns != [*COLUMNS]:
        raise SourceError(table, f"has columns {', '.join(rows.columns)}", f"it takes {', '.join(COLUMNS)}")
    count = (SOURCE_ANSWERS / pl.len().over("source")).clip(upper_bound=1.0)
    cut = (pl.col("kind") == "healthy") & (pl.col("confidence") == CUT)
    return rows.with_columns(count=count, stated=pl.when(cut).then(BELOW).otherwise("confidence"))
