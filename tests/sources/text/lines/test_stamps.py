"""Times in the heads of lines, and the times of rows without a stamp."""

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from loganalyst.sources.text.lines import stamps

STAMPS = st.builds(
    "{}{}{}{}{}".format,
    st.sampled_from(
        ["2024-05-01 10:00", "2024-05-01T10:00", "2024/05/01 23:59", "2024-13-01 10:00", "20x4-05-01 10:00"]
    ),
    st.sampled_from([":", ".", ""]),
    st.sampled_from(["00", "07", "59", "5", "x1", "1x"]),
    st.sampled_from(["", ",", ".", " "]),
    st.sampled_from(["", "1", "12", "123", "1234", "123456", "1234567", "12x", " 123"]),
)


@given(st.lists(STAMPS, min_size=1, max_size=20))
def test_stamps_at_known_places_equal_those_found_by_search(written: list[str]) -> None:
    starts = np.cumsum([0, *(len(text) + 1 for text in written[:-1])])
    found = stamps.fixed("\n".join(written).encode(), starts)
    assert [str(t) for t in found] == [str(t) for t in stamps.times(pl.Series(written))]


def test_rows_below_a_stamp_have_its_time_for_a_while() -> None:
    """The clock passes from batch to batch."""
    clock, stamp = stamps.Clock(), np.datetime64("2024-05-01T10:00:00", "us")
    times = np.array(["NaT", stamp, "NaT"], "M8[us]")
    clock.go_on(times, 0)
    last = 1 + stamps.MAX_ROWS_BELOW

    assert clock.row == 1
    assert clock.at(np.full(200, "NaT", "M8[us]"), np.array([0, last - 3, last - 2]), 3).tolist() == [
        stamp.item(), stamp.item(), None,
    ]  # fmt: skip
    assert stamps.Clock().at(times, np.arange(3), 0).tolist() == [None, stamp.item(), stamp.item()]


def test_the_column_of_a_stamp() -> None:
    """Unknown behind characters of several bytes."""
    assert stamps.column("[info] 2024-05-01 10:00:02 x") == 7
    assert stamps.column("é 2024-05-01 10:00:02 x") is None
    assert stamps.column("10:00:02 x") is None
