"""Changes in the size of the noise."""

import numpy as np
import pytest

from loganalyst.signals import change_points
from loganalyst.signals.preparedcurve import prepare
from loganalyst.signals.variance import variance

N = 4000
T = np.arange(N)
NOISE = np.exp(0.03 * np.random.default_rng(7).standard_normal(N))


def test_variance_change_within_one_percent():
    """Noise that triples from a point on is a variance change with the ratio as effect."""
    values = (0.3 + 2.7 * np.exp(-T / 1500)) * np.where(T >= 2200, NOISE**3, NOISE)

    (found,) = change_points(values)

    assert found.kind == "variance"
    assert abs(found.index - 2200) <= 40
    assert found.effect == pytest.approx(3, rel=0.25)


def test_even_noise_and_short_curves_have_no_change():
    noise = np.random.default_rng(1).normal(size=4000)

    assert variance(prepare(noise)) == []
    assert variance(prepare(noise[:199])) == []
