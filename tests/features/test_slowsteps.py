"""Steps that are slow at equal distances."""

from collections.abc import Callable

import numpy as np
import pytest

from loganalyst.features import slowsteps
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]
STEPS = np.arange(400)


def seconds(slow: np.ndarray, factor: float = 30.0) -> list[float]:
    """One second a step, with 2 % of noise, and `factor` times as long where `slow`."""
    noise = 1 + 0.02 * np.random.default_rng(0).standard_normal(STEPS.size)
    return list(noise * np.where(slow, factor, 1.0))


def test_each_fiftieth_step_is_slow(features_of: FeaturesOf) -> None:
    """Seven steps of 30 s beside 393 of 1 s: 203 of 603 s are lost, at the interval of the checkpoints."""
    slow = (STEPS % 50 == 49) & (STEPS < 350)
    row = features_of({"step_time": seconds(slow)}, {"save_steps": 50, "eval_steps": 100}).values

    assert (row["slow_step_count"], row["slow_step_interval"]) == (7, 50)
    assert row["slow_step_ratio"] == pytest.approx(30, rel=0.05)
    assert row["slow_step_lost_share"] == pytest.approx(203 / 603, rel=0.05)
    assert (row["slow_step_setting"], row["slow_step_irregular"]) == ("save_steps", False)


def test_slow_steps_by_chance_have_no_interval(features_of: FeaturesOf) -> None:
    slow = np.isin(STEPS, [20, 31, 77, 180, 190, 333])
    row = features_of({"step_time": seconds(slow)}).values

    assert (row["slow_step_count"], row["slow_step_interval"], row["slow_step_setting"]) == (6, None, None)
    assert row["slow_step_irregular"] is True


def test_steady_steps_have_none(features_of: FeaturesOf) -> None:
    """The first step may be slow."""
    assert features_of({"step_time": seconds(STEPS == 0)}).values["slow_step_count"] == 0


def test_a_run_without_step_times_has_no_values(context_of: Callable[..., Context]) -> None:
    assert slowsteps.compute(context_of({"loss": [1.0] * 50})) == {}
    assert slowsteps.compute(context_of({"step_time": [1.0] * 39})) == {}
