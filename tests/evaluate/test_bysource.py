"""The figures of each source."""

import polars as pl
import pytest

from loganalyst.evaluate.bysource import figures, text
from tests.evaluate.evaluatedruns import table


def test_shares_are_averaged_and_counts_added_over_sources() -> None:
    """A healthy run with an accepted cause is no alarm. A run that may be healthy is not called healthy wrongly."""
    one = table(
        ("healthy", "healthy", True, 0.95),
        ("healthy", "a", False, 0.95),
        ("healthy", "b", True, 0.6),
        ("a", "healthy", False, 0.6),
    )
    two = table(("a", "a", True, 0.9), ("a", "none", False, None), ("a", "cause_unknown", True, 0.5))
    two = two.with_columns(source=pl.lit("b source"))
    rows = {row.pop("source"): row for row in figures(pl.concat([one, two])).to_dicts()}

    assert {key: rows["a source"][key] for key in ("runs", "alarms", "healthy", "silent", "sick", "unknown")} == {
        "runs": 4, "alarms": 1, "healthy": 3, "silent": 1, "sick": 1, "unknown": 0,
    }  # fmt: skip
    assert (rows["a source"]["sure_right"], rows["a source"]["sure"]) == (1, 2)
    assert rows["a source"]["error"] == pytest.approx((0.9 + 0.2) / 4)
    assert (rows["b source"]["first"], rows["b source"]["unknown"], rows["b source"]["sure"]) == (2 / 3, 1, 1)
    assert figures(one.with_columns(group=pl.lit("job")), "group")["group"].to_list() == ["job", "mean"]
    assert rows["mean"]["first"] == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert (rows["mean"]["runs"], rows["mean"]["sick"], rows["mean"]["sure_right"]) == (7, 4, 2)


def test_the_table_has_a_line_per_source() -> None:
    """And one for the mean."""
    lines = text(figures(table(("a", "a", True, 0.95), ("healthy", "a", False, 0.6)))).splitlines()

    assert lines[0].split() == [
        "source", "n", "first", "three", "alarms", "silent", "unknown", ">=.90", "ECE", "chance", "log", "loss",
    ]  # fmt: skip
    assert lines[1].split() == [
        "a", "source", "2", "0.500", "0.500", "1/1", "0/1", "0", "1/1", "0.325", "0.291", "0.484",
    ]  # fmt: skip
    assert len(lines[1]) == len(lines[0])
    assert lines[2].startswith("mean              2  0.500")
