"""Axes and their ticks."""

import math

import numpy as np
import pytest

from loganalyst.report.diagnosis.html.axis import Axis, fitted, label


def test_ticks_are_round():
    """Multiples of 1, 2, 2.5 or 5; powers of ten over decades, 1, 2, 5 over less."""
    assert Axis(0, 100).ticks(5) == [0, 20, 40, 60, 80, 100]
    assert Axis(-1, 1).ticks(4) == [-1, -0.5, 0, 0.5, 1]
    assert Axis(0.02, 300, log=True).ticks(5) == pytest.approx([0.1, 1, 10, 100])
    assert Axis(0.3, 8, log=True).ticks(4) == pytest.approx([0.5, 1, 2, 5])
    assert [label(v) for v in (0, 0.25, 1500, 2.5e6, 1e-5, -0.002)] == ["0", "0.25", "1,500", "2.5e6", "1e-5", "-0.002"]


@pytest.mark.parametrize("values", [[0, 0], [5, 5], [-1e308, 1e308], [1e-320, 2e-320]])
def test_an_axis_always_has_an_extent(values):
    """Also for equal values, and where a difference would overflow."""
    axis = fitted(np.array(values, float), log=False)

    assert axis.low < axis.high
    assert all(map(math.isfinite, axis.ticks(4)))
