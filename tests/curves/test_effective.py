"""The effective history of a run."""

from datetime import UTC, datetime

import polars as pl

from loganalyst.curves.effective import curves, effective
from loganalyst.curves.roles import assign
from loganalyst.model import table
from tests.curves.loggedpoints import points, run_of


def kept(*parts: pl.DataFrame) -> list[float]:
    every = pl.concat(parts)
    rows = effective(every, {"a": "tensorboard", "b": "csv", "c": "tensorboard"})
    return every["value"].to_list() if rows is None else every["value"][rows].to_list()


def test_a_last_evaluation_that_is_printed_twice_outvotes_no_file() -> None:
    """Eight logged values count next to nine printed ones without steps; four do not, next to nine."""
    printed = points(0, range(9), [0.5] * 9, "eval_loss", "log")
    for logged, value in ((8, 0.4), (4, 0.5)):
        every = pl.concat([printed, points(0, range(10, 10 + logged), [0.4] * logged, "eval_loss", "state")])
        rows = effective(every, {"log": "text", "state": "json"})
        assert rows is not None
        assert set(every["value"][rows]) == {value}


def test_repeated_steps_count_once() -> None:
    """After a restart from step 3, the values of the later session count."""
    assert kept(points(0, range(5), [10, 11, 12, 13, 14]), points(1, [3, 4, 5], [23, 24, 25])) == [
        10,
        11,
        12,
        23,
        24,
        25,
    ]


def test_a_fresh_start_replaces_the_session_before() -> None:
    """A session that begins at the first step again is another training."""
    assert kept(points(0, range(3), [1, 2, 3]), points(1, range(3), [7, 8, 9])) == [7, 8, 9]


def test_the_same_metric_in_two_formats_counts_once() -> None:
    """The longer record is used."""
    both = [points(0, range(3), [1, 2, 3]), points(0, range(4), [5, 6, 7, 8], source="b")]

    assert kept(*both) == [5, 6, 7, 8]


def test_as_many_points_in_a_file_as_were_printed() -> None:
    """A Keras history counts epochs from 0, its progress bar from 1: they are no points of one curve."""
    rows = [(0, i, 2.5 - i / 4, "history.csv") for i in range(3)] + [
        (0, i + 1, 2.5 - i / 4, "log.txt") for i in range(3)
    ]
    columns = dict(zip(("session", "step", "value", "source"), zip(*rows, strict=True), strict=True))
    for kept, printed in ((3, 0), (2, 3)):  # with fewer points in the file, the printed ones count
        points = table("points", {"metric": ["loss"] * 6, **columns})[[*range(kept), 3, 4, 5]]
        rows_used = effective(points, {"history.csv": "csv", "log.txt": "text"})
        assert rows_used is not None
        assert points[rows_used]["source"].to_list() == ["history.csv"] * (3 - printed) + ["log.txt"] * printed


def test_files_written_in_parallel_are_sorted_by_step() -> None:
    """Files written later, or with steps that go back, follow the earlier ones."""
    one, two = points(0, [1, 4, 6], [1, 2, 3]), points(0, [2, 3, 6], [4, 5, 3], source="c")
    assert kept(one, two) == [1, 4, 5, 2, 3]

    early, late = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)
    begun, again = (f.with_columns(time=pl.lit(t, f["time"].dtype)) for f, t in ((one, early), (two, late)))
    assert kept(begun, again) == [1, 2, 3, 4, 5]
    assert kept(one, points(0, [3, 2, 6], [5, 4, 3], source="c")) == [1, 2, 3, 5, 4]


def test_points_without_steps_are_kept() -> None:
    """A NULL step is unknown, not superseded."""
    assert kept(points(0, [None, None], [1, 2]), points(1, [0], [3])) == [1, 2, 3]


def test_nan_stays_in_the_curve() -> None:
    """NaN and infinity are data."""
    run = run_of(points(0, range(3), [1.0, float("nan"), float("inf")]))
    (curve,) = curves(run, assign(["loss"]))

    assert [str(v) for v in curve.values] == ["1.0", "nan", "inf"]
    assert curve.steps.tolist() == [0, 1, 2]
