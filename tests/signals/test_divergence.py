"""Sustained rises to the end."""

import numpy as np

from loganalyst.signals import change_points
from loganalyst.signals.divergence import divergence
from loganalyst.signals.preparedcurve import prepare
from tests.signals.noisycurve import CURVE, N, T, kinds


def test_divergence_within_one_percent_and_to_the_end():
    """A rise above the best that lasts to the end is one divergence at the bend, without an end."""
    values = CURVE * np.exp((T - 3000).clip(0) / 300)

    (found,) = change_points(values)

    assert (found.kind, found.end) == ("divergence", None)
    assert abs(found.index - 3000) <= 40


def test_seven_epochs_with_a_rise_diverge():
    """Seven points are enough for a clear and lasting rise."""
    assert "divergence" in [k for _, k in kinds([2.0, 1.0, 0.5, 4.0, 9.0, 20.0, 50.0])]


def test_a_jump_is_placed_at_the_first_value_after_it():
    """A line with a bend fits a jump worst where it happens, so two levels are tried, too."""
    falling = 2.2 * np.exp(-np.arange(25) / 4)
    values = np.concatenate((falling, [20_881.6], 2.36 + 0.01 * np.sin(np.arange(14))))

    assert kinds(values, worse="up")[0] == (25, "divergence")


def test_a_jump_to_a_stable_level_is_no_divergence():
    """A loss that jumps and stays has a level shift; a loss that continues to climb diverges."""
    noise = 0.02 * np.random.default_rng(2).standard_normal(N)
    jump = 2 + noise + (T >= 2000)

    assert kinds(jump, worse="up") == [(2000, "level_up")]
    assert [k for _, k in kinds(jump + (T - 2000).clip(0) / 500, worse="up")] == ["divergence"]


def test_a_rise_back_of_less_than_a_quarter_is_no_divergence():
    """Falls from 10 to 0; back to 2 is too little, back to 8 is one."""
    noise = np.random.default_rng(1).normal(0, 0.05, 400)
    fall = np.linspace(10, 0, 300)

    assert divergence(prepare(np.append(fall, np.linspace(0, 2, 100)) + noise - 5)) == []
    (found,) = divergence(prepare(np.append(fall, np.linspace(0, 8, 100)) + noise - 5))
    assert abs(found.index - 300) <= 8
    assert found.end is None
