"""Tables as JSON, and back."""

import json
import math
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loganalyst.anonymous.tablejson import START, first_time, microseconds, pack, since_start, unpack
from loganalyst.model import table


@given(st.lists(st.floats() | st.none(), min_size=1, max_size=30), st.integers(-(2**62), 2**62))
def test_a_table_is_the_same_after_it_was_packed(values: list[float | None], step: int) -> None:
    """To the last bit, with NaN, infinities, -0.0 and NULL."""
    rows = table("points", {"value": pl.Series(values, dtype=pl.Float64), "step": [step] * len(values)})
    found = unpack("points", json.loads(json.dumps(pack(rows), allow_nan=False)))

    assert list(map(repr, found["value"])) == list(map(repr, rows["value"]))
    assert found.drop("value").equals(rows.drop("value"))


@pytest.mark.parametrize(
    ("values", "packed"),
    [
        ([0.5, 0.5], 0.5),
        ([0.5, 1.0], [0.5, 1.0]),
        ([0.0, -0.0], [0.0, -0.0]),  # equal, but two values
        ([math.nan, math.inf], ["NaN", "Infinity"]),
    ],
)
def test_a_constant_column_is_one_value(values: list[float], packed: Any) -> None:
    found = pack(table("points", {"value": values}))["value"]

    assert repr(found) == repr(packed)


def test_an_empty_column_is_omitted() -> None:
    assert set(pack(table("points", {"value": [1.0]}))) & {"value", "step", "time"} == {"value"}


def test_times_are_relative_to_the_first_one() -> None:
    first = datetime(2026, 1, 5, 10, tzinfo=UTC)
    rows = table("points", {"time": [first + timedelta(seconds=2), first]})
    moved = since_start(rows, first)

    assert first_time([rows.clear(), rows]) == first
    assert moved["time"].to_list() == [START + timedelta(seconds=2), START]
    assert pack(moved)["time"] == [2_000_000, 0]
    assert microseconds(first + timedelta(seconds=1), first) == 1_000_000
    assert microseconds(None, first) is None
