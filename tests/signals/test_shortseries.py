import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from loganalyst.signals import change_points
from loganalyst.signals.seasonalpart import season
from loganalyst.signals.segments import segments, slows_down

N = 240
T = np.arange(N)
NOISE = np.random.default_rng(11).standard_normal(N)


def test_two_level_shifts_in_a_plain_series():
    """Of a series of which nothing is told, both shifts are told with their direction."""
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
    """A random walk wanders; in twenty of them at most two changes are seen."""
    walks = [np.cumsum(np.random.default_rng(seed).standard_normal(N)) for seed in range(20)]

    assert sum(bool(segments(walk)) for walk in walks) <= 2


def test_a_learning_curve_is_told_from_a_line():
    """What falls fast and slows down is taken for a learning curve; a line, a rise and a constant are not."""
    curve = np.exp(-T / 30) + 0.02 * NOISE

    assert slows_down(curve)
    assert not slows_down(-curve)
    assert not slows_down(-0.01 * T + 0.1 * NOISE)
    assert not slows_down(np.ones(N))


def test_season_has_the_period_and_no_mean():
    """The part that repeats is found exactly; a series without one has none."""
    swing = np.tile([1.0, -3.0, 2.0, 0.0], 30)

    assert np.allclose(season(swing + 7)[4:-4], swing[4:-4], atol=1e-9)
    assert not season(NOISE).any()


@given(arrays.arrays(np.float64, st.integers(20, 80), elements=st.integers(-50, 50).map(float)), st.integers(-200, 200))
@settings(max_examples=40, deadline=None)
def test_scale_does_not_matter(values, power):
    """a·x has the same segmentation, whatever the series; cuts lie inside it in order."""
    cuts = [c.index for c in segments(values)]

    assert cuts == [c.index for c in segments(np.ldexp(values, power))]
    assert cuts == sorted(set(cuts))
    assert all(0 < c < values.size for c in cuts)
