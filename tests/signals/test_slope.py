"""Trends that turn for the worse."""

import numpy as np

from loganalyst.signals.preparedcurve import prepare
from loganalyst.signals.slope import slope
from tests.signals.noisycurve import N, T, kinds


def test_slope_turn():
    """A curve that fell, climbs for a while and falls again turns once towards worse."""
    values = (
        3 - np.interp(T, [0, 1500, 2500, 4000], [0, 1.5, 1.1, 2.5]) + 0.02 * np.random.default_rng(1).standard_normal(N)
    )

    found = kinds(values)

    assert [k for _, k in found] == ["slope"]
    assert abs(found[0][0] - 1500) <= 40


def test_a_turn_is_a_bend_and_a_steady_rise_is_none():
    noise = np.random.default_rng(1).normal(0, 0.2, 1000)

    (found,) = slope(prepare(np.append(np.zeros(500), np.linspace(0, 20, 500)) + noise))

    assert abs(found.index - 500) <= 20
    assert slope(prepare(np.linspace(0, 20, 1000) + noise)) == []
