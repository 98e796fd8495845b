"""Features of preference learning."""

from collections.abc import Callable

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


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    assert preference.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {}
