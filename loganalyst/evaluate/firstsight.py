"""Answers for public runs at first sight, which count in the calibration.

The rules were improved on these runs afterwards. New answers for them would be too good, so the first ones are kept.
The oldest of them were given by rules that were right less often than today's, so the calibration counts them less.
"""

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from loganalyst.errors import SourceError

SOURCE_ANSWERS = 60  # a source counts at most as much as this many answers
ROUND_SHARE = 0.7  # what an answer counts for each round of work on the rules since; docs/benchmark.md says why
CUT, BELOW = 0.5, 0.27  # of "healthy": smaller values were kept as 0.5; 0.27 is the median of those today
COLUMNS = {
    "source": pl.String(),
    "labels": pl.String(),  # the right answers, separated by ";"; empty where they are not ours to publish
    "said": pl.String(),  # the rule of the first cause; empty without a cause
    "kind": pl.String(),  # the scale of the answer
    "confidence": pl.Float64(),  # of the answer, before calibration
    "first": pl.Boolean(),  # whether the answer is right
    "group": pl.String(),  # the kind of run (`calibrationkind`), if known
    "round": pl.Int64(),  # of the work on the rules, after which the answer was given, from 1
}


def is_table(place: Path) -> bool:
    """Whether a table holds answers, not features."""
    return place.suffix == ".csv" and "said" in pl.read_csv(place, n_rows=0).columns


def read(tables: Iterable[Path]) -> pl.DataFrame:
    """The answers of tables, with the probability before calibration (`stated`) and how often each counts (`count`).

    Raises SourceError if the columns of a table are not COLUMNS.
    """
    rows = pl.concat(map(_read, tables))
    of_source = (SOURCE_ANSWERS / pl.len().over("source")).clip(upper_bound=1.0)
    of_round = pl.lit(ROUND_SHARE).pow(pl.col("round").max() - pl.col("round"))
    cut = (pl.col("kind") == "healthy") & (pl.col("confidence") == CUT)
    return rows.with_columns(count=of_source * of_round, stated=pl.when(cut).then(BELOW).otherwise("confidence"))


def _read(table: Path) -> pl.DataFrame:
    rows = pl.read_csv(table, schema_overrides=COLUMNS)
    if rows.columns != [*COLUMNS]:
        raise SourceError(table, f"has columns {', '.join(rows.columns)}", f"it takes {', '.join(COLUMNS)}")
    return rows
