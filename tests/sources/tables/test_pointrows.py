"""Rows in the columns of the `points` table."""

import polars as pl

from loganalyst.model import SCHEMAS
from loganalyst.sources.tables.pointrows import as_points


def test_missing_columns_are_not_known():
    """What a reader gives is cast to the types of the table; the rest is NULL."""
    found = as_points(pl.DataFrame({"metric": ["a", "b"], "value": [1, 2], "line": [4, 5]}), "x.txt")

    assert found.schema == pl.Schema(SCHEMAS["points"])
    assert found.select("session", "metric", "value", "line", "source", "step").rows() == [
        (0, "a", 1.0, 4, "x.txt", None),
        (0, "b", 2.0, 5, "x.txt", None),
    ]
