"""The arrays of a log's numbers: joined, grouped, filled."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from loganalyst.sources.text.lines.numberrecords import NONE, Grouping, changes, counted, filled

NAN = np.nan
PAIRS = st.lists(st.tuples(st.integers(0, 3) | st.integers(0, 10**6), st.integers(NONE, 5) | st.integers(0, 10**6)))


def columns(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    one, two = np.array(pairs, np.int64).reshape(-1, 2).T
    return one, two


@given(PAIRS)
def test_groups_hold_their_rows_in_order(pairs: list[tuple[int, int]]) -> None:
    """Small and large numbers alike."""
    groups = Grouping.by(*columns(pairs))
    rows = [part.tolist() for part in np.split(groups.order, groups.starts[1:])] if pairs else []

    assert dict(zip(groups.keys, rows, strict=True)) == {
        pair: [row for row, other in enumerate(pairs) if other == pair] for pair in set(pairs)
    }
    assert groups.rows(groups.spread(groups.sizes, np.int64)).tolist() == [pairs.count(pair) for pair in pairs]


@given(PAIRS.filter(len))
def test_groups_are_counted(pairs: list[tuple[int, int]]) -> None:
    """With small and large numbers."""
    assert counted(*columns(pairs)) == {pair: pairs.count(pair) for pair in pairs}


def test_gaps_are_filled_within_a_session() -> None:
    """From `before`, while the session has no value of its own."""
    values, session = np.array([NAN, 1, NAN, NAN, 2, NAN]), np.array([0, 0, 0, 1, 1, 1])

    assert filled(values, session, np.array([7, 7, 7, NAN, NAN, NAN])).tolist()[:3] == [7, 1, 1]
    assert np.array_equal(filled(values, session, NAN), [NAN, 1, 1, NAN, 2, 2], equal_nan=True)


def test_nan_is_no_change() -> None:
    """NaN equals NaN, and differs from a number."""
    assert changes(np.array([NAN, NAN, 1, 1, NAN])).tolist() == [True, False, True, False, True]
    assert changes(np.array([1, 1, 1]), np.array([1, 2, 2])).tolist() == [True, True, False]
