"""Flat ends after progress."""

import numpy as np

from loganalyst.signals import change_points
from loganalyst.signals.plateau import plateau
from loganalyst.signals.preparedcurve import prepare
from tests.signals.noisycurve import NOISE, T, kinds


def test_plateau_within_two_percent():
    """A decay that stops suddenly is a plateau from there on."""
    values = 3 * np.exp(-np.minimum(T, 2000) / 1200) * NOISE

    (found,) = change_points(values)

    assert found.kind == "plateau"
    assert abs(found.index - 2000) <= 80


def test_a_decay_that_slows_down_has_no_plateau():
    """Only a curve that stops suddenly has a plateau."""
    slow = 0.3 + 2.7 * (1 + T / 100) ** -1.0

    assert kinds(slow * NOISE) == []


def test_the_plateau_begins_at_the_knee():
    noise = np.random.default_rng(1).normal(0, 0.05, 1000)

    (found,) = plateau(prepare(np.append(np.linspace(5, 0, 500), np.zeros(500)) + noise))

    assert abs(found.index - 500) <= 20
    assert found.kind == "plateau"
    assert plateau(prepare(np.linspace(5, 0, 1000) + noise)) == []
