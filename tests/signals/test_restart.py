"""Steps that go back."""

import numpy as np

from loganalyst.signals import change_points
from loganalyst.signals.restart import restart
from tests.signals.noisycurve import CURVE


def test_steps_that_go_back_are_a_restart():
    """A restart is at the first repeated step; effect is the number of repeated steps."""
    steps = np.r_[0:2000, 1900:3900]

    (found,) = change_points(CURVE, steps)

    assert (found.kind, found.index, found.effect) == ("restart", 2000, 99.0)


def test_each_step_back_is_a_restart():
    found = restart(np.array([0.0, 1.0, 2.0, 1.0, 2.0, 3.0, 0.0]))

    assert [(c.index, c.effect) for c in found] == [(3, 1.0), (6, 3.0)]
    assert restart(np.arange(5.0)) == []
