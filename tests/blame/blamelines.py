"""Rows of lines as `outlived` gives them, made for tests."""

import polars as pl

from loganalyst.patterntraits import having

SCHEMA = {
    "row": pl.UInt32, "session": pl.Int32, "file": pl.String, "line": pl.Int64, "time": pl.Datetime("us", "UTC"),
    "rank": pl.Int64, "node": pl.String, "pattern": pl.String, "label": pl.String, "part": pl.String,
    "captures": pl.String, "text": pl.String, "alive": pl.Boolean, "clock": pl.String,
}  # fmt: skip


def rows(*lines: dict[str, object]) -> pl.DataFrame:
    """Lines 1, 2, … of one session and file, unless stated otherwise."""
    usual = {"session": 0, "file": "log", "captures": "{}", "text": "", "alive": True}
    return pl.DataFrame([{"row": i, "line": i + 1, **usual, **line} for i, line in enumerate(lines)], schema=SCHEMA)


def pattern(trait: str) -> str:
    """A pattern with this trait."""
    return having(trait)[0]
