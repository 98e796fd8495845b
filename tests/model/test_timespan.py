"""Spans of time in words."""

import math

import pytest

from loganalyst.model.timespan import duration


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(231186.0, "2 d 16 h"), (3600.0, "1 h"), (61.0, "1 min 1 s"), (0.5, "under 1 s"), (math.nan, "not known")],
)
def test_the_two_largest_units(seconds: float, said: str) -> None:
    assert duration(seconds) == said
