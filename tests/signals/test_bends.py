"""Straight fits on both sides of a point."""

import numpy as np
import pytest

from loganalyst.signals.bends import contrast, edges, hinge, sharpest, trend


def test_contrast_ignores_slope_and_curvature():
    """A parabola has no step at any boundary; a step of 2 shows in full."""
    t = np.arange(40.0)

    assert np.nanmax(np.abs(contrast(3 * t + 0.5 * t**2, 5))) < 1e-9
    assert contrast(np.where(t >= 20, 2.0, 0.0), 5)[20] == pytest.approx(2.0)
    assert np.isnan(contrast(t, 5)[:5]).all()
    assert contrast(t, 5, slopes=True)[20] == pytest.approx(0.0)


def test_edges_are_the_steps_with_their_size():
    rng = np.random.default_rng(1)
    x = rng.normal(size=500) + np.where(np.arange(500) >= 300, 8.0, 0.0)

    (edge,) = edges(x, np.ones(500))

    assert abs(edge.index - 300) <= 1
    assert edge.size == pytest.approx(8.0, abs=0.5)
    assert edges(rng.normal(size=500), np.ones(500)) == []
    assert edges(np.zeros(9), np.ones(9)) == []


def test_trend_is_the_slope_per_point():
    assert trend(np.arange(10.0) * 3) == pytest.approx(3.0)
    assert trend(np.array([5.0])) == 0.0


def test_hinge_is_where_a_line_bends_upwards():
    """Flat for 30 points, then 2 a point."""
    assert hinge(np.maximum(np.arange(60.0) - 30, 0) * 2) == 30


def test_the_sharpest_point_is_that_of_the_largest_jump():
    x = np.where(np.arange(50) >= 23, 4.0, 1.0)

    assert sharpest(x, 10, 40, 3, 1.0) == (23, 3.0)
    assert sharpest(x, 10, 40, 3, -1.0)[1] == 0.0
    assert sharpest(x, 49, 50, 3, 1.0) == (49, 0.0)
