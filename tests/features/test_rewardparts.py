"""Features of several rewards of one run."""

from collections.abc import Callable

import numpy as np
import pytest

from loganalyst.features import rewardparts
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]
NOISE = np.random.default_rng(0).normal(0, 0.01, 100)
GRPO = {"reward_std": [0.1] * 100, "frac_reward_zero_std": [0.1] * 100}


def rewards(form: list[float], task: list[float]) -> dict[str, list[float]]:
    """What TRL's GRPOTrainer logs of two reward functions."""
    both = (np.asarray(form) + np.asarray(task)).tolist()
    return {**GRPO, "reward": both, "rewards/format_reward/mean": form, "rewards/accuracy_reward/mean": task}


RISES = np.clip(np.linspace(0, 2, 100), 0, 1).tolist()
STAYS = (0.05 + NOISE).tolist()


def test_a_form_that_is_learned_without_the_task(features_of: FeaturesOf) -> None:
    """The form is fully earned; the task ends where it began."""
    row = features_of(rewards(RISES, STAYS)).values

    assert row["reward_part_full_metric"] == "rewards/format_reward/mean"
    assert row["reward_part_full_last"] == 1.0
    assert row["reward_part_still_metric"] == "rewards/accuracy_reward/mean"
    assert row["reward_part_still_last"] == pytest.approx(0.05, abs=0.02)


@pytest.mark.parametrize(("form", "task"), [(RISES, RISES), (STAYS, STAYS), (RISES, [0.9] * 100)])
def test_other_pairs_of_rewards(features_of: FeaturesOf, form: list[float], task: list[float]) -> None:
    """Both rise, neither rises, or the task was solved from the start."""
    assert features_of(rewards(form, task)).values["reward_part_still_last"] is None


def test_a_part_that_was_never_paid(features_of: FeaturesOf) -> None:
    """The form still rises, with noise, and ends below nine tenths of its highest value."""
    form = np.linspace(0.1, 0.7, 100)
    form[90] = 1.0
    row = features_of(rewards(form.tolist(), [0.0] * 100)).values

    assert row["reward_part_full_last"] == pytest.approx(0.66, abs=0.05)
    assert (row["reward_part_still_last"], row["reward_part_still_highest"]) == (0.0, 0.0)


def test_another_reward_that_rose(features_of: FeaturesOf) -> None:
    """The reward of evaluations rises, while that of training stays."""
    row = features_of({"train/reward": STAYS, "val/reward": RISES[:50], "entropy": STAYS, "value_loss": STAYS}).values

    assert row["reward_other_metric"] == "val/reward"
    assert row["reward_other_gain_z"] > 3.5
    assert features_of({"episode_reward": STAYS}).values["reward_other_gain_z"] == 0.0


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    assert rewardparts.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {}
