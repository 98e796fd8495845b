"""A curve prepared for the detectors."""

import numpy as np
import pytest

from loganalyst.signals.preparedcurve import even_noise, local_noise, prepare

RNG = np.random.default_rng(5)


def test_a_loss_with_relative_noise_becomes_a_logarithm():
    values = np.exp(-np.arange(1000) / 200) * np.exp(RNG.normal(0, 0.05, 1000))

    transformed, unit = even_noise(values)

    assert unit is None
    assert transformed == pytest.approx(np.log(values))


def test_values_of_both_signs_are_squeezed_and_keep_their_order():
    values = np.array([-3.0, -1.0, 0.0, 2.0, 1e9])

    transformed, unit = even_noise(values)

    assert unit is not None
    assert (np.diff(transformed) > 0).all()
    assert even_noise(np.zeros(5))[0].tolist() == [0.0] * 5


def test_prepared_values_are_finite_and_oriented():
    """Positions count in the given array; with sign -1 the curve is turned upside down."""
    values = np.array([5.0, np.nan, 4.0, 3.0, np.inf, 2.0, 1.0])
    up, down = prepare(values), prepare(values, -1)

    assert up.where.tolist() == [0, 2, 3, 5, 6]
    assert (np.diff(up.y) < 0).all()
    assert down.y == pytest.approx(-up.y)
    assert prepare(np.array([np.nan])).y.size == 0


def test_a_long_curve_has_blocks():
    p = prepare(RNG.normal(size=10_000))

    assert (p.size, p.level.size) == (10, 1000)
    assert (p.index(0), p.index(7), p.index(5000)) == (0, 70, 9999)


def test_noise_is_local():
    """Ten times the noise in the second half."""
    x = RNG.normal(size=4000) * np.where(np.arange(4000) < 2000, 1.0, 10.0)

    noise = local_noise(x, np.zeros(4000))

    assert np.median(noise[:1500]) == pytest.approx(1.0, rel=0.15)
    assert np.median(noise[2500:]) == pytest.approx(10.0, rel=0.15)
