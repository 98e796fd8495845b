import warnings

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from loganalyst.signals.curveshape import shape

T = np.arange(2000)
RNG = np.random.default_rng(11)
NOISE = 0.02 * RNG.standard_normal(2000)


def test_decay_in_numbers():
    """Levels, noise, drop and best of a noisy exponential are those it was made of."""
    s = shape(0.5 + 2 * np.exp(-T / 400) + NOISE)

    assert (s.n, s.finite, s.nonfinite, s.first_nonfinite) == (2000, 2000, 0, None)
    assert s.first == pytest.approx(0.5 + 2 * np.exp(-50 / 400), abs=0.02)
    assert s.last == pytest.approx(0.5 + 2 * np.exp(-1900 / 400), abs=0.01)
    assert s.noise == pytest.approx(0.02, rel=0.1)
    assert s.total_relative_drop == pytest.approx((s.first - s.last) / s.first)
    assert s.best_index > 1500
    assert s.spike_count == 0
    assert s.rise_ratio == pytest.approx(1.0, abs=0.05)


def test_the_last_level_has_no_lag():
    """For a straight fall it is the value at the end, not in the middle of the last tenth; noise has no trend."""
    assert shape(2 - T / 2000 + 0.5 * NOISE).last == pytest.approx(1.0, abs=0.01)
    assert shape(2 - T[:12] / 12).last == pytest.approx(2 - 11 / 12)
    assert shape(1 + NOISE).last == pytest.approx(float(np.median((1 + NOISE)[-200:])))


def test_tail_slope_has_sign_size_and_significance():
    """A line that falls by 3 % of its level over the last 30 %, far beyond its error."""
    s = shape(1 - 0.1 * T / 2000 + 0.01 * NOISE)

    assert s.tail_slope == pytest.approx(-0.03 / 0.915, rel=0.02)
    assert s.tail_slope_z < -50


def test_noise_has_no_significant_tail():
    """Pure noise, white or autocorrelated, has a tail slope within four standard errors."""
    walk = np.convolve(RNG.standard_normal(2100), np.ones(20) / 20, mode="valid")[:2000]

    assert abs(shape(1 + NOISE).tail_slope_z) < 4
    assert abs(shape(5 + walk).tail_slope_z) < 4


def test_plateau_begins_where_the_fall_ends():
    """A fall that stops gives the first flat position within 3 %; a curve that still falls gives none."""
    s = shape(3 - 2 * np.minimum(T, 1000) / 1000 + NOISE)

    assert abs(s.plateau_index - 1000) <= 60
    assert shape(3 - 2 * T / 2000 + NOISE).plateau_index is None


def test_spike_ratio_and_recovery():
    """One tenfold point: one spike, ratio near ten, recovered."""
    values = 1 + NOISE
    values[1200] = 10.0
    s = shape(values)

    assert (s.spike_count, s.recovered) == (1, True)
    assert s.spike_max_ratio == pytest.approx(10, rel=0.05)
    assert s.maximum == 10.0


def test_rise_above_the_best():
    """A curve that falls to 1 and climbs to 3 ends threefold above its best."""
    s = shape(np.interp(T, [0, 1000, 1800, 2000], [4, 1, 3, 3]) + NOISE)

    assert s.rise_ratio == pytest.approx(3, rel=0.05)
    assert abs(s.best_index - 1000) <= 20


def test_constant_share_counts_exact_equals():
    """Half of the last half frozen at the last value is a share of one half."""
    values = np.r_[1 + NOISE[:1500], np.zeros(500)]

    assert shape(values).constant_share == 0.5
    assert shape(np.zeros(100)).constant_share == 1.0


def test_swings_are_counted_despite_noise_and_trend():
    """Eight waves after the first fifth rise nine times; a falling curve and noise do not."""
    waves = shape(1 + 0.2 * np.sin(2 * np.pi * T / 200) + 0.5 * NOISE)

    assert waves.swing_count == 9
    assert waves.swing_relative == pytest.approx(0.4, rel=0.1)
    assert (shape(np.exp(-T / 400)).swing_count, shape(np.exp(-T / 400)).swing_relative) == (0, 0.0)
    assert shape(1 + NOISE).swing_count == 0
    assert shape([1.0, 2.0, 1.0]).swing_count is None


def test_nonfinite_points_are_counted_and_left_out():
    """NaN and Inf are counted, the first is placed, and the rest is described in the given positions."""
    values = np.r_[np.linspace(2, 1, 100), np.nan, np.inf, np.linspace(1, 3, 100)]
    s = shape(values)

    assert (s.n, s.finite, s.nonfinite, s.first_nonfinite) == (202, 200, 2, 100)
    assert abs(s.best_index - 101) <= 5


def test_negative_and_zero_values_have_no_ratios():
    """Ratios exist for positive curves only."""
    s = shape(-1 + NOISE)

    assert s.rise_ratio is None
    assert s.spike_max_ratio is None


@pytest.mark.parametrize("values", [[], [np.nan], [1.0], [1.0, 2.0], [1.0, 2.0, 3.0]])
def test_few_points_leave_features_unknown(values):
    """Unknown is None, never 0."""
    s = shape(values)

    assert s.n == len(values)
    assert s.tail_slope is None
    assert s.plateau_index is None
    assert s.noise is None


@given(arrays.arrays(np.float64, st.integers(0, 80), elements=st.floats(width=64)))
@settings(max_examples=100, deadline=None)
def test_any_floats_are_described(values):
    """No float array raises or warns, and no number in the answer is NaN or infinite."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        s = shape(values)

    for name, value in msgspec.structs.asdict(s).items():
        assert value is None or np.isfinite(value), name
