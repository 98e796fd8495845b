"""All changes of one curve: healthy curves, any input, and invariance."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from loganalyst.signals import change_points
from tests.bench.faulty_curves import suite
from tests.bench.learning_curves import HEALTHY, Noise, smooth_decay
from tests.signals.noisycurve import CURVE, N, T, kinds

ANY = arrays.arrays(np.float64, st.integers(0, 120), elements=st.floats(width=64))
MODERATE = arrays.arrays(np.float64, st.integers(0, 300), elements=st.integers(-1000, 1000).map(float))


def test_a_smooth_noisy_decay_has_no_changes():
    """A learning curve that does nothing but learn gives no findings."""
    assert kinds(CURVE) == []


def test_divergence_then_nan():
    """The divergence and the first NaN are both reported, each at its place."""
    values = CURVE * np.exp((T - 3000).clip(0) / 100)
    values[3700:] = np.nan

    (rise, nan) = change_points(values)

    assert (rise.kind, nan.kind) == ("divergence", "nonfinite")
    assert abs(rise.index - 3000) <= 40
    assert (nan.index, nan.end, nan.effect) == (3700, None, 300.0)


def test_indexes_are_those_of_the_given_array():
    """Non-finite points before a change do not move its index."""
    values = CURVE.copy()
    values[10:500] = np.nan
    values[2500] *= 3

    assert kinds(values) == [(10, "nonfinite"), (2500, "spike")]


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7])
def test_few_points_have_no_changes(n):
    assert change_points(CURVE[:n]) == []


@pytest.mark.parametrize("value", [0.0, 5.0, -3.0, 1e-300, 1e300])
@pytest.mark.parametrize("n", [7, 100, 5000])
def test_constant_curves_are_quiet(value, n):
    """A constant has no changes."""
    assert change_points(np.full(n, value)) == []


def test_noise_free_exponential_has_no_false_changes():
    """Exact arithmetic without noise invents no steps, spikes or variance changes."""
    found = kinds(0.1 + np.exp(-T / 600))

    assert {k for _, k in found} <= {"plateau"}


def test_small_batches_are_healthy():
    """Losses that jump between 0.15 and 1.5 all run long are noise."""
    values = 0.5 * np.exp(0.5 * np.random.default_rng(3).standard_normal(N))

    assert kinds(values) == []


@pytest.mark.parametrize("make", HEALTHY, ids=lambda f: f.__name__)
def test_healthy_curves_show_no_divergence_and_no_slope(make):
    """Seeded healthy curves of every kind never diverge nor turn."""
    for seed in range(5):
        curve = make(3000, np.random.default_rng([5, seed]))
        found = {k for _, k in kinds(curve.values, worse=curve.worse)}

        assert not found & {"divergence", "slope", "nonfinite"}, (make.__name__, seed)


def test_autocorrelated_heavy_tailed_decay_has_few_false_alarms():
    """At most one curve in five of the hard noise has any finding but a plateau."""
    alarms = 0
    for seed in range(20):
        rng = np.random.default_rng([9, seed])
        curve = smooth_decay(4000, rng).clean * np.exp(0.05 * Noise(0.9, True).draw(4000, rng))
        alarms += bool({k for _, k in kinds(curve)} - {"plateau"})

    assert alarms <= 4


def test_faults_are_found_more_often_than_not():
    """Over a small seeded suite seven injected faults in ten are found within 1 % with the right kind."""
    curves = [c for c in suite(3, 5000, seed=4) if c.events]
    wanted = [(c, at, kind) for c in curves for at, kind in c.events]
    hits = sum(any(k == kind and abs(i - at) <= 50 for i, k in kinds(c.values)) for c, at, kind in wanted)

    assert hits >= 0.7 * len(wanted)


@given(ANY)
@settings(max_examples=80, deadline=None)
def test_any_floats_are_accepted(values):
    """No float array raises or warns; every change lies in it and its numbers are finite and in range."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = change_points(values, np.arange(values.size))

    for c in found:
        assert 0 <= c.index < values.size
        assert c.end is None or c.index <= c.end < values.size
        assert np.isfinite(c.effect)
        assert 0 <= c.significance <= 1


@given(MODERATE, st.integers(-300, 300))
@settings(max_examples=60, deadline=None)
def test_scale_does_not_matter(values, power):
    """a·x with a = 2^k has exactly the findings of x."""
    assert change_points(values) == change_points(np.ldexp(values, power))


@pytest.mark.parametrize("scale", [1e-6, 3.0, 7e5])
def test_any_positive_scale_keeps_kinds_and_places(scale):
    """a·x has the same kinds at the same places for any a > 0."""
    for curve in suite(1, 3000, seed=2):
        assert kinds(curve.values, worse=curve.worse) == kinds(scale * curve.values, worse=curve.worse), curve.name


@given(MODERATE)
@settings(max_examples=30, deadline=None)
def test_same_input_same_answer(values):
    """Two calls agree, and the input is left alone."""
    before = values.copy()

    assert change_points(values) == change_points(values)
    assert np.array_equal(before, values)
