"""Where a curve is flat within its own noise."""

import numpy as np
import pytest

from loganalyst.signals.flatness import flat_from, long_run_noise

RNG = np.random.default_rng(3)


def test_a_curve_is_flat_from_where_its_fall_ends():
    x = np.concatenate([np.linspace(10, 0, 100), np.zeros(100)]) + RNG.normal(0, 0.1, 200)

    first = flat_from(x)

    assert first is not None
    assert 90 <= first <= 110


def test_a_falling_or_short_curve_is_not_flat():
    assert flat_from(np.linspace(10, 0, 200) + RNG.normal(0, 0.1, 200)) is None
    assert flat_from(np.zeros(19)) is None


def test_autocorrelation_widens_the_noise():
    """White noise keeps its sd; an AR(1) with rho 0.8 has a long-run sd three times its own."""
    white = RNG.normal(size=4000)
    persistent = np.zeros(4000)
    for i in range(1, 4000):
        persistent[i] = 0.8 * persistent[i - 1] + white[i]

    assert long_run_noise(white) == pytest.approx(1.0, rel=0.1)
    assert long_run_noise(persistent) / persistent.std() == pytest.approx(3.0, rel=0.15)
