"""Lines for the tests of this folder."""

import polars as pl

from loganalyst.model import Time


def frame(text: str, session: int = 0) -> pl.DataFrame:
    """Lines as the text reader hands them over: CR refreshes are rows that share a line number."""
    rows = [(i, part) for i, line in enumerate(text.split("\n"), 1) for part in line.split("\r")]
    return pl.DataFrame(rows, schema={"line": pl.Int64, "text": pl.String}, orient="row").with_columns(
        session=pl.lit(session, pl.Int32), time=pl.lit(None, Time)
    )
