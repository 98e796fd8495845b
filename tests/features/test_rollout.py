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
        "approx_kl": [0.01] * 15 + [0.2] * 5,
    }
    row = features_of(logged).values

    assert (row["value_loss_last"], row["value_loss_drop_relative"]) == (1.0, 0.75)
    assert (row["advantage_size"], row["episode_length_growth"], row["episode_length_last"]) == (3.0, 4.0, 40.0)
    assert (row["exploration_last"], row["exploration_low_share"]) == (0.01, 0.75)
    assert row["policy_kl_over_limit_share"] == 0.25
    alone = features_of({"ep_rew_mean": [1.0] * 20}).values
    assert {alone[name] for name in ("value_loss_last", "advantage_size", "exploration_last")} == {None}


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    assert rollout.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {}
