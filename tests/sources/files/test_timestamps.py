"""Seconds as times."""

from datetime import UTC, datetime

import numpy as np
import pytest

from loganalyst.sources.files.timestamps import MAX_LIST_TIMES, YEAR_10000, from_seconds, micros

NOW = 1714550000.123456


@pytest.mark.parametrize("times", [1, MAX_LIST_TIMES + 1])
def test_times_to_the_microsecond(times: int) -> None:
    assert from_seconds([NOW] * times).to_list() == [datetime(2024, 5, 1, 7, 53, 20, 123456, tzinfo=UTC)] * times


def test_times_that_are_none() -> None:
    found = from_seconds([0.0, np.nan, -1.0, YEAR_10000, np.inf, 1.0])

    assert found.to_list() == [None] * 5 + [datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)]
    assert from_seconds([]).to_list() == []


def test_micros_of_known_times_only() -> None:
    found = micros(np.array([1.5]))

    assert found is not None
    assert found.tolist() == [1_500_000]
    assert micros(np.array([1.5, np.nan])) is None
    assert micros(np.array([])) is None
