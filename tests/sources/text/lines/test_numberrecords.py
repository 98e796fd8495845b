"""The arrays that hold what a log measures: joined, grouped, filled; and the file in which they wait."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from loganalyst.sources.text.lines import tablespool
from loganalyst.sources.text.lines.numberrecords import NONE, Counted, Grouping, Points, changes, counted, filled
from loganalyst.sources.text.patterns.matchedlines import MAX_MATCHES_PER_END, Hits

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
    """As many as there are."""
    assert counted(*columns(pairs)) == {pair: pairs.count(pair) for pair in pairs}


def test_gaps_are_filled_within_a_session() -> None:
    """From before, while the session has no value of its own."""
    values, session = np.array([NAN, 1, NAN, NAN, 2, NAN]), np.array([0, 0, 0, 1, 1, 1])

    assert filled(values, session, np.array([7, 7, 7, NAN, NAN, NAN])).tolist()[:3] == [7, 1, 1]
    assert np.array_equal(filled(values, session, NAN), [NAN, 1, 1, NAN, 2, 2], equal_nan=True)


def test_nan_is_no_change() -> None:
    """It is like NaN, and unlike a number."""
    assert changes(np.array([NAN, NAN, 1, 1, NAN])).tolist() == [True, False, True, False, True]
    assert changes(np.array([1, 1, 1]), np.array([1, 2, 2])).tolist() == [True, True, False]


def test_what_waits_in_a_file_comes_back() -> None:
    """All blocks in their order: those in the file, and the last in memory."""
    whole, real, mark = np.arange(3), np.array([1.5, NAN, -0.0]), np.array([True, False, True])
    time = np.array(["2024-05-01T10:00:00.5", "NaT", "2024-05-02"], "M8[us]")
    block = (
        Counted(whole, whole, whole, mark, mark, mark, mark, mark, real, real, real),
        Points(whole, whole.astype(np.uint32), real, whole, time),
    )
    waiting = tablespool.Spool(700)
    for _ in range(3):
        waiting.add(block)
    waiting.add((block[0][:1], block[1][:0]))

    assert [len(records) for records, _ in waiting] == [3, 3, 3, 1]
    assert waiting.written
    assert waiting.held
    for records, points in list(waiting)[:3]:
        for given_, got in zip(
            [*block[0].columns(), *block[1].columns()], [*records.columns(), *points.columns()], strict=True
        ):
            assert got.dtype == given_.dtype
            assert np.array_equal(got, given_, equal_nan=given_.dtype.kind in "fM")


def test_matches_of_a_pattern_are_kept_from_either_end_of_a_session() -> None:
    """Of each pattern and session its own; few are all kept."""
    n = 4 * MAX_MATCHES_PER_END
    row, zero = np.arange(n), np.zeros(n, np.int64)
    hits = Hits(row, row + 1, row % 2, zero, np.full(n, "{}", object), zero)
    kept, lost = hits.thinned(zero)
    more, none = hits.thinned((row >= n // 2).astype(np.int64))

    assert (len(kept), len(lost)) == (n, 0)
    assert (len(more), len(none)) == (n, 0)
    every = Hits(row, row, zero, zero, hits.captures, zero)
    kept, lost = every.thinned(zero)
    assert kept.row.tolist() == [*range(MAX_MATCHES_PER_END), *range(n - MAX_MATCHES_PER_END, n)]
    assert lost.row.tolist() == list(range(MAX_MATCHES_PER_END, n - MAX_MATCHES_PER_END))
