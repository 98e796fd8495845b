"""Features of measures that judge a policy without its reward."""

from collections.abc import Callable

import numpy as np
import pytest

from loganalyst.model import Features

FeaturesOf = Callable[..., Features]
RISE = [*(0.1 * k for k in range(40))]
FALL = [*np.linspace(0.6, 0.2, 12)]


@pytest.mark.parametrize("name", ["eval/win_rate", "quality", "gold_reward", "rougeL", "gsm8k_acc"])
def test_an_independent_measure_that_falls(features_of: FeaturesOf, name: str) -> None:
    """A win rate, the score of a second judge, a held-out score, or a benchmark beside the score of a reward model."""
    row = features_of({"rm_score": RISE, "kl_ref": RISE, name: FALL}).values

    assert (row["reward_metric"], row["independent_metric"]) == ("rm_score", name)
    assert row["independent_fall_share"] == pytest.approx(0.67, abs=0.05)
    assert row["independent_trend"] == -1.0
    assert (row["independent_points"], row["independent_count"]) == (12, 1)


def test_the_one_that_fell_most_counts(features_of: FeaturesOf) -> None:
    row = features_of({"rm_score": RISE, "kl_ref": RISE, "win_rate": FALL[::-1], "quality": FALL}).values

    assert (row["independent_metric"], row["independent_count"]) == ("quality", 2)


@pytest.mark.parametrize(
    "logged",
    [
        {"win_rate": FALL},  # it stands for the reward
        {"rm_score": RISE, "kl_ref": RISE},
        {"episode_reward": RISE, "success_rate": FALL},  # an agent without a reference model
        {"rm_score": RISE, "win_rate": FALL[:2]},
        {"rm_score": RISE, "precision": FALL},
    ],
)
def test_nothing_is_known_without_a_reward_and_another_measure(
    features_of: FeaturesOf, logged: dict[str, list[float]]
) -> None:
    assert features_of(logged).values["independent_fall_share"] is None


def test_the_only_term_of_a_reward_stands_for_it(features_of: FeaturesOf) -> None:
    """TRL logs `rewards/<name>` beside the total, which a printed log may lack."""
    terms = {"kl": RISE, "reward_std": RISE, "completions/clipped_ratio": RISE, "rewards/rm": RISE}

    assert features_of(terms).values["reward_metric"] == "rewards/rm"
    assert features_of(terms | {"rewards/format": RISE}).values["reward_metric"] is None
