"""Intervals of onsets, and steps on a common axis."""

from collections.abc import Sequence

import numpy as np
import pytest

from loganalyst.curves.roles import all_roles
from loganalyst.features.onsetplacing import bracket, step_axis
from loganalyst.model import Curve


def curve(values: Sequence[float], *, role: str = "train_loss", every: int = 1, times: Sequence[float] = ()) -> Curve:
    n = len(values)
    return Curve(
        "metric", all_roles()[role], every * np.arange(n), np.array(values, float),
        np.array(times, float) if times else np.full(n, np.nan), np.full(n, np.nan), np.zeros(n, np.int32),
        np.full(n, -1), "a.csv",
    )  # fmt: skip


NOISE = np.random.default_rng(0).normal(0, 0.01, 200)


def test_a_jump_is_placed_between_two_points() -> None:
    """The last usual point is 119, and 120 is the first one beyond."""
    values = 1 + NOISE + np.where(np.arange(200) >= 120, 1.0, 0.0)

    assert bracket(curve(values.tolist()), 122) == (119, 119, 120)


def test_a_fall_of_a_metric_that_should_rise_is_an_onset_too() -> None:
    values = 1 + NOISE - np.where(np.arange(200) >= 120, 0.5, 0.0)

    assert bracket(curve(values.tolist(), role="val_accuracy"), 122) == (119, 119, 120)


def test_a_slow_rise_has_a_wide_interval() -> None:
    values = 1 + NOISE + np.maximum(np.arange(200) - 120, 0) * 0.004

    calm, low, high = bracket(curve(values.tolist()), 130)

    assert low < calm < high
    assert low <= 120 <= high


def test_without_a_usual_course_the_interval_surrounds_the_finding() -> None:
    assert bracket(curve([1.0, 2.0, 3.0, 4.0]), 2) == (1, -1, 3)


def test_a_counter_of_epochs_is_placed_by_its_times() -> None:
    """1,000 steps of one second, and ten epochs of 100 seconds."""
    main = curve([1.0] * 1001, times=list(range(1001)))
    epochs = curve([1.0] * 11, times=list(range(0, 1001, 100)))

    assert step_axis(epochs, main) == pytest.approx(np.arange(0, 1001, 100))
    assert step_axis(curve([1.0] * 11), main) is None
    assert step_axis(curve([1.0] * 101, every=10), main) == pytest.approx(np.arange(0, 1001, 10))
