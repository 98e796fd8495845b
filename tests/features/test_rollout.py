"""Features of the data a policy learns from."""

from collections.abc import Callable

from loganalyst.features import rollout
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]


def test_rollout_levels(features_of: FeaturesOf) -> None:
    """Value loss, advantages, length, exploration and the size of updates, each at its last level."""
    logged = {
        "ep_rew_mean": [1.0] * 20,
        "value_loss": [4.0] * 10 + [1.0] * 10,
        "advantage_mean": [-3.0, 3.0] * 10,
        "ep_len_mean": [10.0] * 10 + [40.0] * 10,
        "exploration_rate": [1.0] * 5 + [0.01] * 15,
    }
    row = features_of(logged).values

    assert (row["value_loss_last"], row["value_loss_drop_relative"]) == (1.0, 0.75)
    assert (row["advantage_size"], row["episode_length_growth"], row["episode_length_last"]) == (3.0, 4.0, 40.0)
    assert (row["exploration_last"], row["exploration_low_share"]) == (0.01, 0.75)
    alone = features_of({"ep_rew_mean": [1.0] * 20}).values
    assert {alone[name] for name in ("value_loss_last", "advantage_size", "exploration_last")} == {None}


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    assert rollout.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {}


def test_the_share_of_answers_cut_off(features_of: Callable[..., Features]) -> None:
    """Its first and last level; the length of answers counts as that of episodes."""
    metrics = {
        "reward": [0.1] * 20, "reward_std": [0.1] * 20, "frac_reward_zero_std": [0.1] * 20,
        "completions/clipped_ratio": [0.2] * 10 + [0.8] * 10, "completions/mean_length": [100.0] * 10 + [300.0] * 10,
    }  # fmt: skip
    values = features_of(metrics).values

    assert (values["clipped_completions_first"], values["clipped_completions_last"]) == (0.2, 0.8)
    assert values["episode_length_growth"] == 3.0


def test_the_weight_of_the_entropy(features_of: FeaturesOf) -> None:
    """Its last level against its lowest value; a share of random actions is no such weight."""
    row = features_of({"rollout/ep_rew_mean": [1.0] * 20, "train/ent_coef": [0.5] * 10 + [50.0] * 10}).values

    assert (row["entropy_coefficient_metric"], row["entropy_coefficient_last"]) == ("train/ent_coef", 50.0)
    assert row["entropy_coefficient_growth"] == 100.0
    assert (
        features_of({"exploration_rate": [0.5] * 20, "reward": [1.0] * 20}).values["entropy_coefficient_last"] is None
    )
