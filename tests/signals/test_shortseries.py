"""Short series without a known role."""

import numpy as np
import pytest

from loganalyst.model import ChangePoint
from loganalyst.signals import change_points
from loganalyst.signals.preparedcurve import prepare
from loganalyst.signals.segments import segments
from loganalyst.signals.shortseries import plain

N = 240
T = np.arange(N)
NOISE = np.random.default_rng(11).standard_normal(N)


def test_two_level_shifts_in_a_series_without_role():
    """Both are reported with their direction."""
    found = change_points(NOISE + 6 * (T >= 80) - 9 * (T >= 170))

    assert [(c.index, c.kind) for c in found] == [(80, "level_up"), (170, "level_down")]
    assert found[0].effect == pytest.approx(6, rel=0.3)
    assert all(0.5 < c.significance <= 1 for c in found)


def test_a_bend_is_a_slope():
    """A line that turns is one bend near the turn."""
    (found,) = change_points(0.3 * NOISE + 0.1 * T - 0.25 * (T - 120).clip(0))

    assert found.kind == "slope"
    assert abs(found.index - 120) <= 6


def test_the_season_is_no_change():
    """A yearly swing has no changes; a shift within it is found."""
    swing = 5 * np.sin(2 * np.pi * T / 12)

    assert change_points(swing + 0.3 * NOISE) == []
    assert [c.index for c in change_points(swing + 0.3 * NOISE + 4 * (T >= 100))] == [100]


def test_autocorrelated_noise_is_no_change():
    """A random walk wanders; twenty of them show at most two changes."""
    walks = [np.cumsum(np.random.default_rng(seed).standard_normal(N)) for seed in range(20)]

    assert sum(bool(segments(walk)) for walk in walks) <= 2


def test_spikes_stay_and_unconfirmed_shifts_go():
    """The series has a level shift at 150; the detector that put it at 152 names it, one at 40 is dropped."""
    series = np.where(np.arange(300) >= 150, 5.0, 0.0) + np.random.default_rng(4).normal(0, 0.5, 300)
    spike = ChangePoint(20, 20, "spike", 9.0, 0.9)
    near, far = (ChangePoint(at, None, "level_up", 10.0, 0.9) for at in (152, 40))

    found = plain(prepare(series), [spike, near, far])

    assert [(c.index, c.kind) for c in found] == [(20, "spike"), (150, "level_up")]
