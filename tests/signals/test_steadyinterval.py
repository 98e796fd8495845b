"""Events at a steady interval."""

import numpy as np
import pytest

from loganalyst.signals.steadyinterval import rhythm


def test_equal_gaps_have_a_period():
    period, steady = rhythm(np.array([10, 60, 110, 160]))

    assert period == 50
    assert steady.tolist() == [True, True, True]


def test_a_missing_event_is_two_periods():
    period, steady = rhythm(np.array([0, 50, 150, 200, 250]))

    assert period == 50
    assert steady.all()


@pytest.mark.parametrize("at", [[0, 50, 100], [0, 3, 20, 25, 65], [0, 1, 2, 3, 4]], ids=["few", "uneven", "neighbours"])
def test_no_steady_interval(at):
    assert rhythm(np.array(at)) is None
