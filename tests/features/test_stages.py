"""Features of stages of a training."""

from collections.abc import Callable

import numpy as np
import pytest

from loganalyst.features import stages
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]
COUNTER = "time/iterations"
PEAK = np.concatenate([np.linspace(0, 100, 100), np.full(300, 20.0)]).tolist()


def run_of(counter: list[float], reward: list[float]) -> dict[str, list[float]]:
    """What Stable-Baselines3 logs."""
    flat = [1.0] * len(reward)
    return {"rollout/ep_rew_mean": reward, "rollout/ep_len_mean": flat, COUNTER: counter, "train/n_updates": flat}


def test_the_reward_falls_where_a_stage_begins(features_of: FeaturesOf) -> None:
    """The counter begins anew at steps 100, 200 and 300; the reward is at its best just before the first of them."""
    row = features_of(run_of([*range(1, 101)] * 4, PEAK)).values

    assert (row["stage_count"], row["stage_metric"], row["reward_stage_step"]) == (4, COUNTER, 100)
    assert row["reward_stage_chance"] == pytest.approx(0.02, abs=0.03)


def test_a_counter_that_goes_on(features_of: FeaturesOf) -> None:
    """Nothing is known of stages."""
    row = features_of(run_of(list(range(1, 401)), PEAK)).values

    assert (row["stage_count"], row["reward_stage_chance"]) == (None, None)


def test_a_counter_of_batches(features_of: FeaturesOf) -> None:
    """A counter that begins anew at each epoch counts no stages."""
    assert features_of(run_of([*range(1, 11)] * 40, PEAK)).values["stage_count"] is None


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    assert stages.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {}
