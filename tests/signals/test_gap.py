import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from loganalyst.signals.gap import Gap, gap

STEPS = np.arange(2000)
TRAIN = 2 * np.exp(-STEPS / 700) + 0.02 * np.random.default_rng(0).standard_normal(2000)
VAL_STEPS = np.arange(0, 2000, 50)
FLOATS = arrays.arrays(np.float64, st.integers(0, 40), elements=st.floats(width=64))


def validation(rise):
    noise = 0.01 * np.random.default_rng(1).standard_normal(VAL_STEPS.size)
    return np.interp(VAL_STEPS, [0, 1000, 2000], [2.1, 0.7, 0.7 + rise]) + noise


def test_overfitting_in_numbers():
    """Validation is best at the constructed step, then doubles while training continues to fall."""
    g = gap(STEPS, TRAIN, VAL_STEPS, validation(0.7))

    assert abs(g.best_step - 1000) <= 100
    assert g.best_index == g.best_step // 50
    assert g.points_after_best == 39 - g.best_index
    assert g.rise_ratio == pytest.approx(1.85, abs=0.1)
    assert g.rise > 20
    assert g.train_fall == pytest.approx(1 - np.exp(-1.36), abs=0.1)
    assert g.train_fall_z > 10
    assert g.final_ratio == pytest.approx(1.33 / 0.122, rel=0.15)
    assert g.final_ratio > g.best_ratio > 0


def test_the_best_of_neighbours_with_one_median_is_the_lowest():
    """The median of three is equal; the checkpoint to keep is that of the lower value."""
    g = gap([], [], range(5), [0.9336, 0.8345, 0.8237, 0.8707, 0.9204])

    assert (g.best_step, g.best_value, g.points_after_best) == (2, 0.8237, 2)


def test_a_curve_that_only_falls_has_no_rise():
    """Without a rise the best is at the end and the ratio one."""
    g = gap(STEPS, TRAIN, VAL_STEPS, validation(-0.6))

    assert g.points_after_best <= 2
    assert abs(g.rise_ratio - 1) < 0.5
    assert g.train_fall == pytest.approx(0, abs=0.1)


def test_the_onset_of_a_widening_gap():
    """Two losses diverge at step 1,000; two that stay together have no onset."""
    together, noise = np.linspace(2, 1, 2000), 0.01 * np.random.default_rng(2).standard_normal(40)
    parted = together[::50] + np.maximum(VAL_STEPS - 1000, 0) / 1000
    g, same = gap(STEPS, together, VAL_STEPS, parted + noise), gap(STEPS, together, VAL_STEPS, together[::50] + noise)

    assert g.onset_index is not None
    assert 1000 <= VAL_STEPS[g.onset_index] <= 1200
    assert g.widening > 40
    assert same.onset_index is None
    assert same.widening < 4


def test_order_of_points_does_not_matter():
    """Points are put in order of their steps; best_index stays a position in the given array."""
    values = validation(0.7)
    turned = gap(STEPS, TRAIN, VAL_STEPS[::-1], values[::-1])
    straight = gap(STEPS, TRAIN, VAL_STEPS, values)

    assert straight.best_step == turned.best_step
    assert turned.best_index == VAL_STEPS.size - 1 - straight.best_index


def test_an_evaluation_just_after_the_last_training_value():
    """The best evaluation may come less than one interval after the last value of training."""
    g = gap([0, 10, 20, 30], [4.0, 3.0, 2.0, 1.0], [9, 19, 29, 39], [8.0, 6.0, 4.0, 2.0])

    assert g.best_step == 39
    assert g.final_ratio is not None
    assert gap([0, 10, 20, 30], [4.0, 3.0, 2.0, 1.0], [9, 19, 29, 49], [8.0, 6.0, 4.0, 2.0]).final_ratio is None


def test_a_last_evaluation_after_the_last_training_loss():
    """A loss logged every 10 steps ends at 1,590, and the best evaluation is at 1,599, the last step."""
    found = gap(np.arange(0, 1600, 10), np.full(160, 0.5), np.arange(63, 1600, 64), np.linspace(90.0, 75.0, 25))

    assert found.best_step == 1599
    assert found.train_fall == 0.0
    assert found.final_ratio == pytest.approx((75.0 + 15.0 / 24 - 0.5) / 0.5)


def test_disjoint_steps_leave_training_unknown():
    """Without training at or after the best validation, nothing is known about training."""
    g = gap([0, 1, 2], [3.0, 2.0, 1.0], [10, 20, 30], [1.0, 0.5, 0.9])

    assert g.best_step == 20
    assert g.train_fall is None
    assert g.final_ratio is None


@pytest.mark.parametrize("values", [[], [1.0], [np.nan, 1.0]])
def test_fewer_than_two_points_have_no_gap(values):
    """One validation point has no best."""
    assert Gap() == gap(STEPS, TRAIN, range(len(values)), values)


@given(FLOATS, FLOATS)
@settings(max_examples=100, deadline=None)
def test_any_floats_are_compared(train, val):
    """No float arrays raise or warn, and no number in the answer is NaN or infinite."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        g = gap(np.arange(train.size), train, np.arange(val.size), val)

    for name, value in vars(g).items():
        assert value is None or np.isfinite(value), name


def test_training_logged_up_to_the_last_evaluation_is_compared():
    """A training loss at every tenth step ends just before an evaluation at the very end, which is the best."""
    found = gap(range(0, 100, 10), [1.0] * 10, range(19, 100, 20), [5.0, 4.0, 3.0, 2.5, 2.0])

    assert (found.best_step, found.final_ratio, found.train_fall) == (99, 1.0, 0.0)


def test_the_fall_of_training_since_a_best_near_the_end():
    """With one or two values after the best, the level of the end is theirs, not that of the values before."""
    steps = np.arange(5)
    train = np.array([2.0, 1.8, 1.6, 1.4, 1.2])

    after_one = gap(steps, train, steps, np.array([3.0, 2.5, 2.0, 1.0, 2.0]))
    after_two = gap(steps, train, steps, np.array([3.0, 2.0, 1.0, 2.0, 2.0]))
    at_the_end = gap(steps, train, steps, np.array([5.0, 4.0, 3.0, 2.0, 1.0]))

    assert after_one.train_fall == pytest.approx(0.2 / 1.4)
    assert after_two.train_fall == pytest.approx(0.3 / 1.6)
    assert at_the_end.train_fall == 0.0
