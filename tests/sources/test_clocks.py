"""Two records of one session, of which one has another time zone."""

from datetime import datetime, timedelta

import polars as pl
import pytest

from loganalyst.sources.clocks import on_one_clock

START = datetime(2026, 1, 1, 18, 10, 58)
MINUTE = timedelta(minutes=1)


def _sessions(*spans: tuple[int, datetime, datetime]) -> pl.DataFrame:
    return pl.DataFrame(spans, schema=["session", "started", "ended"], orient="row")


@pytest.mark.parametrize("zone", [timedelta(hours=8), timedelta(hours=5, minutes=30)])
def test_local_times_do_not_make_a_run_longer(zone: timedelta) -> None:
    """The tracker's UTC counts."""
    other = START + zone + timedelta(seconds=3)
    found = on_one_clock(_sessions((0, START, START + MINUTE), (0, other, other + MINUTE)))

    assert found == (START, START + timedelta(seconds=63))


@pytest.mark.parametrize(
    "rows",
    [
        [(0, START, START + MINUTE)],
        [(0, START, START + MINUTE), (1, START + 480 * MINUTE, START + 481 * MINUTE)],  # two sessions
        [(0, START, START + MINUTE), (0, START + 487 * MINUTE, START + 490 * MINUTE)],  # no distance of two zones
        [(0, START, START + 600 * MINUTE), (0, START + 480 * MINUTE, START + 500 * MINUTE)],  # they overlap
        [(0, START, START + MINUTE), (0, START + 1200 * MINUTE, START + 1201 * MINUTE)],  # further than any zone
    ],
)
def test_time_that_may_have_passed_is_kept(rows: list[tuple[int, datetime, datetime]]) -> None:
    """Nothing is said of other records."""
    assert on_one_clock(_sessions(*rows)) is None
