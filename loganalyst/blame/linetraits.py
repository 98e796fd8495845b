"""Traits of the patterns that claim lines, as polars expressions over the column `pattern`."""

import polars as pl

from loganalyst.patterntraits import having


def has_trait(trait: str) -> pl.Expr:
    """Whether the pattern of a line has a trait (Boolean). Raises KeyError for an unknown trait."""
    return pl.col("pattern").is_in(having(trait))
