"""The layout of a panel: axes, kept points and medians."""

import numpy as np

from loganalyst.report.diagnosis.html.axis import Axis
from loganalyst.report.diagnosis.html.curves import Panel
from loganalyst.report.diagnosis.html.plotlayout import HEIGHT, LOW_HEIGHT, plot, steps_axis
from tests.report.conftest import LOSS, RATE, curve


def test_the_step_axis_spans_all_curves():
    """A single step still has an extent."""
    assert steps_axis([curve("a", LOSS, [5, 9], [1, 1]), curve("b", LOSS, [2], [1])]) == Axis(2.0, 9.0)
    assert steps_axis([curve("b", LOSS, [2], [1])]) == Axis(2.0, 3.0)


def test_a_line_breaks_at_a_pause():
    """NaN separates the two stretches, for points and for medians."""
    steps = np.r_[0:200, 5000:5200]
    line = plot(Panel("Loss", (curve("a", LOSS, steps, np.ones(400)),), True), Axis(0, 5200), 1000).lines[0]

    assert np.flatnonzero(np.isnan(line.x)).tolist() == [200]
    assert np.isnan(line.middle_x).sum() == 1
    assert line.middle_x[~np.isnan(line.middle_x)][:2].tolist() == [1.0, 4.0]


def test_values_outside_are_counted():
    """One value of a million is outside; a panel of rates is low and has no medians."""
    values = np.r_[np.linspace(-1, 1, 999), 1e6]
    drawn = plot(Panel("Loss", (curve("a", LOSS, range(1000), values),), True), Axis(0, 999), 5000)
    rate = plot(Panel("Rate", (curve("lr", RATE, range(1000), np.ones(1000)),), True), Axis(0, 999), 5000)

    assert (drawn.outside, drawn.farthest, drawn.height) == (1, 1e6, HEIGHT)
    assert drawn.y.high < 2
    assert (rate.height, rate.lines[0].middle_x.size) == (LOW_HEIGHT, 0)
