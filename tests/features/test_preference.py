"""Features of preference learning."""

from collections.abc import Callable

import pytest

from loganalyst.features import preference
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]


def test_preference_learning(features_of: FeaturesOf) -> None:
    """Margin, accuracy and the reward of chosen answers; such a run is no reinforcement learning."""
    logged = {
        "train/rewards/margins": [0.0] * 3 + [8.0] * 7,
        "train/rewards/accuracies": [0.5] * 3 + [0.9] * 7,
        "train/rewards/chosen": [0.0] * 3 + [-12.0] * 7,
        "train/loss": [0.69] * 10,
    }
    row = features_of(logged).values

    assert (row["preference_margin_points"], row["preference_margin_last"]) == (10, 8.0)
    assert (row["preference_accuracy_first"], row["preference_accuracy_last"]) == (0.5, 0.9)
    assert row["chosen_reward_last"] == -12.0
    assert row["run_kind"] == "training"


def test_margins_that_are_exactly_zero(features_of: FeaturesOf) -> None:
    """Half of the margins are 0."""
    row = features_of({"rewards/margins": [0.0] * 5 + [0.1] * 5, "rewards/accuracies": [0.5] * 10}).values

    assert row["preference_margin_zero_share"] == 0.5


def test_likelihoods_that_both_fall(features_of: FeaturesOf) -> None:
    """Both falls as shares, and the beta that rewards and log-probabilities imply."""
    row = features_of(
        {
            "rewards/margins": [0.0] * 3 + [4.0] * 7, "rewards/accuracies": [0.5] * 3 + [0.9] * 7,
            "rewards/chosen": [0.0] * 3 + [-3.0] * 7, "rewards/rejected": [0.0] * 3 + [-7.0] * 7,
            "logps/chosen": [-50.0] * 3 + [-80.0] * 7, "logps/rejected": [-50.0] * 3 + [-120.0] * 7,
        }
    ).values  # fmt: skip

    assert row["preference_by_likelihood"] is True
    assert (row["chosen_likelihood_first"], row["chosen_likelihood_last"]) == (-50.0, -80.0)
    assert (row["chosen_likelihood_fall"], row["rejected_likelihood_fall"]) == (0.6, 1.4)
    assert row["preference_beta_implied"] == pytest.approx(0.1)


def test_a_plain_accuracy_beside_margins_counts_pairs(features_of: FeaturesOf) -> None:
    """Without margins it is that of a classifier, and an accuracy of tokens counts no pairs."""
    accuracy = {"acc": [0.5] * 3 + [0.9] * 7}

    assert features_of(accuracy | {"margin": [0.1] * 10}).values["preference_accuracy_last"] == 0.9
    assert features_of(accuracy).values["preference_accuracy_last"] is None
    assert features_of({"token_acc": [0.9] * 10, "margin": [0.1] * 10}).values["preference_accuracy_last"] is None


def test_the_beta_that_held_out_pairs_imply(features_of: FeaturesOf) -> None:
    """On the same pairs the margin is beta times the change of the gap, also where chosen answers hardly move."""
    gap = [0.9, 1.2, 1.6, 2.0, 2.4]
    train = {"rewards/margins": gap, "rewards/rejected": gap, "logps/chosen": [-22.0] * 5, "logps/rejected": gap}
    logged = train | {
        "rewards/chosen": [2.0] * 5, "eval_rewards/chosen": [2.0] * 5,
        "eval_rewards/margins": [10 * (g - 0.4) for g in gap],
        "eval_logps/chosen": [-22.0] * 5, "eval_logps/rejected": [-22.0 - g for g in gap],
    }  # fmt: skip
    row = features_of(logged).values

    assert row["preference_beta_implied"] == pytest.approx(10.0)
    assert row["preference_beta_seen_high"] is True
    assert features_of({"rewards/margins": [1.0] * 5}, {"beta": 5.0}).values["preference_beta_seen_high"] is True
    assert features_of({"rewards/margins": [1.0] * 5}).values["preference_beta_seen_high"] is False


def test_a_reward_model_has_no_likelihoods(features_of: FeaturesOf) -> None:
    """It logs margins and accuracies alone."""
    row = features_of(
        {"accuracy": [0.5] * 10, "margin": [0.1] * 10, "min_reward": [0.0] * 10, "mean_reward": [0.1] * 10}
    )

    assert row.values["preference_by_likelihood"] is False
    assert row.values["preference_beta_implied"] is None


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    assert preference.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {}


def test_settings_that_name_adapters(features_of: FeaturesOf) -> None:
    """Without settings nothing is known."""
    logged = {"rewards/margins": [0.1] * 10, "rewards/chosen": [0.1] * 10}

    assert features_of(logged, {"use_peft": "true"}).values["preference_adapters"] is True
    assert features_of(logged, {"learning_rate": 1e-6}).values["preference_adapters"] is False
    assert features_of(logged).values["preference_adapters"] is None


def test_several_held_out_sets(features_of: FeaturesOf) -> None:
    """The set whose pairs are won most often, and the one in which they are won least often."""
    row = features_of(
        {
            "rewards/margins": [0.0] * 3 + [4.0] * 7,
            "rewards/accuracies": [0.5] * 3 + [0.9] * 7,
            "eval_swapped_rewards/accuracies": [0.5] * 3 + [0.1] * 7,
            "eval_new_rewards/accuracies": [0.5] * 3 + [0.8] * 7,
        }
    ).values

    assert (row["preference_held_out_last"], row["preference_held_out_worst"]) == (0.8, 0.1)
    assert row["preference_held_out_worst_metric"] == "eval_swapped_rewards/accuracies"


@pytest.mark.parametrize(("beta", "reference", "free"), [(0.1, 0.0, True), (0.1, 80.0, False)])
def test_rewards_without_a_reference(beta: float, reference: float, free: bool, features_of: FeaturesOf) -> None:
    """ORPO and SimPO take the log-probability itself as the reward; DPO subtracts that of the reference."""
    chosen = [-90.0 + k for k in range(10)]
    logged = {
        "rewards/margins": [0.01 * k for k in range(10)],
        "rewards/chosen": [beta * (x + reference) for x in chosen],
        "logps/chosen": chosen,
    }

    assert features_of(logged).values["preference_reference_free"] is free


def test_rewards_without_log_probabilities(features_of: FeaturesOf) -> None:
    """Nothing shows that the reference is missing."""
    row = features_of({"rewards/margins": [0.1] * 10, "rewards/chosen": [-1.0] * 10}).values

    assert row["preference_reference_free"] is False
