"""The value axis of a curve, pauses, local medians, and whether two curves count the same steps."""

import numpy as np
import pytest

from loganalyst.model import Curve, Role
from loganalyst.report.common.scale import Scale, aligned, local_medians, scale, stretches

LOSS = Role("train_loss", "", "up", judged=True)
SCORE = Role("val_accuracy", "", "down", judged=True)
RATE = Role("learning_rate", "", None, judged=True)


def curve(*steps: int) -> Curve:
    n = len(steps)
    nan = np.full(n, np.nan)
    return Curve("m", LOSS, np.array(steps), np.ones(n), nan, nan, np.zeros(n, np.int32), np.full(n, -1))


@pytest.mark.parametrize(
    ("role", "values", "log"),
    [(LOSS, [31.0, 1.0], True), (LOSS, [29.0, 1.0], False), (LOSS, [31.0, 0.0], False), (SCORE, [31.0, 1.0], False),
     (RATE, [1e-3, 1.1e-7], False), (RATE, [1e-3, 0.9e-7], True)],
)  # fmt: skip
def test_a_positive_curve_over_decades_is_logarithmic(role, values, log):
    """The limit is a ratio of 30, and 10,000 for learning rates. Scores and zeros stay linear."""
    assert scale(np.array(values), role).log is log


def test_extremes_lie_outside_a_linear_axis():
    """The limits leave 6 % of air around the bulk; the value outside is counted."""
    values = np.append(np.linspace(-1.0, 1.0, 1000), -1e6)

    assert scale(values, LOSS) == Scale(False, -1.12, 1.12, 1, -1e6)


def test_stretches_end_at_long_pauses():
    """A pause of 100 usual distances splits the steps; few steps are never split."""
    steps = np.concatenate([np.arange(30), np.arange(130, 160)])

    assert stretches(steps) == [0, 30, 60]
    assert stretches(np.array([0, 1, 1000])) == [0, 3]


def test_medians_are_those_of_full_groups():
    """Two groups of three; the last value belongs to no group."""
    steps, medians = local_medians(np.arange(7), np.array([1.0, 9.0, 2.0, 4.0, 4.0, 0.0, 7.0]), 3)

    assert (steps.tolist(), medians.tolist()) == ([1, 4], [2.0, 4.0])


def test_curves_in_the_same_unit_are_aligned():
    """A curve over at least a twentieth of the steps is aligned, and so is a single point among them."""
    batches = curve(0, 500, 1000)

    assert aligned(curve(0, 25, 50), batches)
    assert not aligned(curve(0, 20, 40), batches)
    assert aligned(curve(700), batches)
    assert not aligned(curve(1700), batches)
