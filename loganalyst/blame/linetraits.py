"""Traits of the patterns that claim lines, as expressions over the column `pattern`."""

import polars as pl

from loganalyst.patterntraits import having


def says(trait: str) -> pl.Expr:
    """Whether the pattern of a line has a trait (Boolean; false for a trait that no pattern has)."""
    return pl.col("pattern").is_in(having(trait))
