import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from loganalyst.model import Role
from loganalyst.signals import change_points
from tests.bench.faulty_curves import suite
from tests.bench.learning_curves import HEALTHY, Noise, smooth_decay

N = 4000
T = np.arange(N)
NOISE = np.exp(0.03 * np.random.default_rng(7).standard_normal(N))
CURVE = (0.3 + 2.7 * np.exp(-T / 1500)) * NOISE
ANY = arrays.arrays(np.float64, st.integers(0, 120), elements=st.floats(width=64))
MODERATE = arrays.arrays(np.float64, st.integers(0, 300), elements=st.integers(-1000, 1000).map(float))


def kinds(values, **kwargs):
    return [(c.index, c.kind) for c in change_points(values, **kwargs)]


def test_a_smooth_noisy_decay_has_no_changes():
    """A learning curve that does nothing but learn gives no findings."""
    assert kinds(CURVE) == []


def test_single_point_spike_at_its_exact_index():
    """One bad point that recovers at once is one spike, there and no longer."""
    values = CURVE.copy()
    values[2500] *= 3

    (found,) = change_points(values)

    assert (found.index, found.end, found.kind) == (2500, 2500, "spike")
    assert 25 < found.effect < 60
    assert 0.5 < found.significance <= 1


def test_spike_the_good_way_is_none():
    """An excursion towards better is no spike; with the direction turned over it is."""
    values = CURVE.copy()
    values[2500] /= 3

    assert kinds(values) == []
    assert (2500, "spike") in kinds(values, worse="down")


def test_long_spike_begins_where_it_rises():
    """A spike of some hundred points with a slow recovery is one finding at its first point."""
    values = CURVE.copy()
    values[2000:] *= np.exp(1.5 * np.exp(-np.arange(2000) / 30))

    assert [(i, k) for i, k in kinds(values) if k != "variance"] == [(2000, "spike")]


@pytest.mark.parametrize(("factor", "kind"), [(1.35, "level_up"), (0.7, "level_down")])
def test_level_shift_at_its_exact_index(factor, kind):
    """A jump that stays is a level shift at the first point of the new level."""
    values = CURVE * np.where(T >= 2600, factor, 1.0)

    assert [(2600, kind)] == kinds(values)


def test_variance_change_within_one_percent():
    """Noise that triples from a point on is a variance change with the ratio as effect."""
    values = (0.3 + 2.7 * np.exp(-T / 1500)) * np.where(T >= 2200, NOISE**3, NOISE)

    (found,) = change_points(values)

    assert found.kind == "variance"
    assert abs(found.index - 2200) <= 40
    assert found.effect == pytest.approx(3, rel=0.25)


def test_divergence_within_one_percent_and_to_the_end():
    """A rise above the best that lasts to the end is one divergence at the bend, without an end."""
    values = CURVE * np.exp((T - 3000).clip(0) / 300)

    (found,) = change_points(values)

    assert (found.kind, found.end) == ("divergence", None)
    assert abs(found.index - 3000) <= 40


def test_divergence_then_nan():
    """The blow-up and the first NaN are both told, each at its place."""
    values = CURVE * np.exp((T - 3000).clip(0) / 100)
    values[3700:] = np.nan

    (rise, nan) = change_points(values)

    assert (rise.kind, nan.kind) == ("divergence", "nonfinite")
    assert abs(rise.index - 3000) <= 40
    assert (nan.index, nan.end, nan.effect) == (3700, None, 300.0)


def test_plateau_within_two_percent():
    """A decay that stops at once is a plateau from there on."""
    values = 3 * np.exp(-np.minimum(T, 2000) / 1200) * NOISE

    (found,) = change_points(values)

    assert found.kind == "plateau"
    assert abs(found.index - 2000) <= 80


def test_slope_turn():
    """A curve that fell, climbs for a while and falls again turns once towards worse."""
    values = (
        3 - np.interp(T, [0, 1500, 2500, 4000], [0, 1.5, 1.1, 2.5]) + 0.02 * np.random.default_rng(1).standard_normal(N)
    )

    found = kinds(values)

    assert [k for _, k in found] == ["slope"]
    assert abs(found[0][0] - 1500) <= 40


def test_periodic_spikes_give_their_period():
    """Spikes at a steady distance are told one by one, and as a train whose effect is the period in points."""
    values = CURVE.copy()
    values[300::400] *= 3

    found = change_points(values)
    train = next(c for c in found if c.kind == "periodic")

    assert list(range(300, N, 400)) == [c.index for c in found if c.kind == "spike"]
    assert (train.index, train.end, train.effect) == (300, 3900, 400.0)


def test_nonfinite_run_counts_all():
    """The first run of NaN or Inf is told with its end; effect counts all such points."""
    values = CURVE.copy()
    values[[100, 101, 900]] = [np.nan, np.inf, -np.inf]

    assert [(c.index, c.end, c.kind, c.effect) for c in change_points(values)] == [(100, 101, "nonfinite", 3.0)]


def test_indexes_are_those_of_the_given_array():
    """Non-finite points before a change do not move its index."""
    values = CURVE.copy()
    values[10:500] = np.nan
    values[2500] *= 3

    assert kinds(values) == [(10, "nonfinite"), (2500, "spike")]


def test_steps_that_go_back_are_a_restart():
    """A restart stands at the first repeated step; effect is the number of steps repeated."""
    steps = np.r_[0:2000, 1900:3900]

    (found,) = change_points(CURVE, steps)

    assert (found.kind, found.index, found.effect) == ("restart", 2000, 99.0)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7])
def test_few_points(n):
    """Too few points for a statement give none."""
    assert change_points(CURVE[:n]) == []


@pytest.mark.parametrize("value", [0.0, 5.0, -3.0, 1e-300, 1e300])
@pytest.mark.parametrize("n", [7, 100, 5000])
def test_constant_curves_are_quiet(value, n):
    """A constant has no changes."""
    assert change_points(np.full(n, value)) == []


def test_noise_free_exponential_is_quiet_but_for_its_flat_end():
    """Exact arithmetic, no noise: no steps, spikes or variance changes are made up."""
    found = kinds(0.1 + np.exp(-T / 600))

    assert {k for _, k in found} <= {"plateau"}


def test_seven_epochs_with_a_rise_diverge():
    """Seven points are enough for a clear and lasting rise."""
    assert "divergence" in [k for _, k in kinds([2.0, 1.0, 0.5, 4.0, 9.0, 20.0, 50.0])]


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


def test_roles_give_the_direction():
    """A role, its name, and the caller's word decide which way is worse; the word wins."""
    values = 5 + np.log(NOISE)
    values[2500] -= 1
    reward = Role("reward", "", "down", True)

    assert [(2500, "spike")] == kinds(values, role=reward) == kinds(values, role="reward")
    assert kinds(values, role=reward, worse="up") == []


def test_a_gain_at_a_drop_of_the_rate_is_benign():
    """The same fall is a level shift without a rate, and `lr_drop` where the given rate drops."""
    values = CURVE * np.where(T >= 2600, 0.7, 1.0)
    rate = np.where(T >= 2600, 0.01, 0.1)

    assert kinds(values) == [(2600, "level_down")]
    assert kinds(values, rate=rate) == [(2600, "lr_drop")]
    assert kinds(CURVE, rate=rate) == []


def test_a_jump_that_holds_is_no_divergence():
    """A loss that jumps above its best and stays there is one level shift, one that goes on climbing diverges."""
    noise = 0.02 * np.random.default_rng(2).standard_normal(N)
    jump = 2 + noise + (T >= 2000)

    assert kinds(jump, worse="up") == [(2000, "level_up")]
    assert [k for _, k in kinds(jump + (T - 2000).clip(0) / 500, worse="up")] == ["divergence"]


def test_a_decay_that_slows_down_has_no_plateau():
    """Only a curve that stops at once has a plateau onset."""
    slow = 0.3 + 2.7 * (1 + T / 100) ** -1.0

    assert kinds(slow * NOISE) == []


def test_train_of_spikes_in_every_tenth_point():
    """Spikes so frequent that they look like a heavy tail are known by their steady interval."""
    values = CURVE[:1000].copy()
    values[30::40] *= 3

    train = next(c for c in change_points(values, worse="up") if c.kind == "periodic")

    assert (train.index, train.end, train.effect) == (30, 990, 40.0)


def test_unknown_role_names_the_nearest():
    """A misspelt role is refused with the name that was meant."""
    with pytest.raises(ValueError, match="did you mean 'train_loss'"):
        change_points(CURVE, role="train_los")
    with pytest.raises(ValueError, match="allowed are 'up', 'down'"):
        change_points(CURVE, worse="sideways")


@given(ANY)
@settings(max_examples=150, deadline=None)
def test_any_floats_are_answered(values):
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
