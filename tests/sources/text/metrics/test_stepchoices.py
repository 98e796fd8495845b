"""How a session counts, by the sums over its records."""

import numpy as np
import pytest

from loganalyst.sources.files.readmark import StartAgainError
from loganalyst.sources.text.lines.numberrecords import Counted
from loganalyst.sources.text.metrics.barsteps import Pace
from loganalyst.sources.text.metrics.stepchoices import Groups

NAN = np.nan


def records(i: list[float], epoch: list[float], *, stepped: bool = False) -> Counted:
    """Records of one series in session 0."""
    n = len(i)
    zeros, no = np.zeros(n, np.int64), np.zeros(n, bool)
    counter, epochs = np.array(i, float), np.array(epoch, float)
    return Counted(
        np.arange(n),
        zeros,
        zeros,
        no,
        no,
        np.full(n, stepped),
        ~np.isnan(epochs),
        no,
        np.full(n, NAN),
        counter,
        epochs,
        np.full(n, NAN),
    )


def summed(*parts: Counted) -> Groups:
    groups = Groups()
    for part in parts:
        groups.add(part)
    return groups


def test_a_counter_that_starts_again_with_each_epoch() -> None:
    """A pass has as many steps as the largest counter says, one more if they count from 0."""
    found = summed(records([0, 1, 2, 0, 1, 2, 0], [1, 1, 1, 2, 2, 2, 3])).choices()

    assert found.sessions[0] == (3, 1, True, False)
    assert found.series[0, 0] == (True, True)


def test_a_counter_that_goes_on_is_a_step() -> None:
    found = summed(records([1, 2, 3, 4], [1, 1, 2, 2])).choices()

    assert found.sessions[0] == (4, 1, True, False)
    assert found.series[0, 0] == (False, True)


def test_epochs_alone() -> None:
    found = summed(records([NAN] * 3, [1, 2, 3])).choices()

    assert found.sessions[0] == (None, None, False, True)


def test_a_bar_gives_the_pace_where_nothing_else_counts() -> None:
    groups = summed(records([NAN] * 3, [0.1, 0.2, 0.3]))
    groups.draw({0: Pace(total=300, epoch=0.3, bar=30)})

    assert groups.choices().paces == {0: 100}


def test_batches_sum_up_to_the_whole() -> None:
    i, epoch = [0, 1, 2, 0, 1, 2, 0], [1, 1, 1, 2, 2, 2, 3]
    whole = summed(records(i, epoch))

    for cut in range(1, len(i)):
        parts = summed(records(i[:cut], epoch[:cut]), records(i[cut:], epoch[cut:]))
        assert (parts.series, parts.spans) == (whole.series, whole.spans)


def test_state_comes_back() -> None:
    groups = summed(records([1, 2], [1, 1]))
    again = Groups.from_state(groups.state())

    assert (again.series, again.spans, again.drawn) == (groups.series, groups.spans, groups.drawn)


def test_records_that_would_move_are_read_again() -> None:
    """A session of epochs gets steps."""
    before = summed(records([NAN] * 3, [1, 2, 3]))
    after = before.copy()
    after.add(records([5, 6], [NAN, NAN], stepped=True))

    before.check(before.choices(), before.choices(), passed=False)
    with pytest.raises(StartAgainError, match="counts differently"):
        before.check(before.choices(), after.choices(), passed=False)
