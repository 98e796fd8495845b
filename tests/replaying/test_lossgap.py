"""The gap between the losses of two replays."""

import pytest

from loganalyst.replaying.lossgap import Fall
from loganalyst.replaying.trajectory import Trajectory


def test_the_fall_is_that_of_the_last_half_with_its_standard_error():
    fall = Fall.between(Trajectory(0, [9.0, 9.0, 4.0, 6.0]), Trajectory(0, [0.0, 0.0, 3.0, 2.0]))

    assert fall.mean == 2.5  # of 1 and 4
    assert fall.error == pytest.approx(1.5)
