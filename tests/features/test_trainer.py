"""The features that name the trainer, the kind of training, and a rate beside the trainer's usual ones."""

import pytest

GRPO = {"reward": [0.1, 0.2], "reward_std": [0.1, 0.1], "frac_reward_zero_std": [0.5, 0.5], "loss": [0.0, 0.1]}


@pytest.mark.parametrize(("rate", "place"), [(1e-6, "usual"), (1e-9, "low"), (1e-2, "high")])
def test_a_rate_beside_the_usual_ones(features_of, rate, place):
    values = features_of({**GRPO, "learning_rate": [rate / 2, rate]}).values

    assert (values["trainer"], values["training_kind"]) == ("trl-grpo", "verifiable-rewards")
    assert values["training_kind_probability"] == 0.95
    assert values["lr_peak_usual"] == place


def test_the_rate_of_the_settings_counts_where_none_is_logged(features_of):
    assert features_of(GRPO, {"learning_rate": 1e-6}).values["lr_peak_usual"] == "usual"


def test_a_rate_that_was_logged_counts_before_the_settings(features_of):
    """The longest curve is the rate, as for the feature lr_peak."""
    values = features_of({**GRPO, "learning_rate": [1e-3, 1e-3]}, {"learning_rate": 1e-6}).values

    assert (values["lr_peak"], values["lr_peak_usual"]) == (1e-3, "high")


def test_no_trainer_no_usual_rate(features_of):
    values = features_of({"loss": [1.0, 0.5], "lr": [1e-3, 1e-3]}).values

    assert values["trainer"] is None
    assert values["lr_peak_usual"] is None


def test_a_kind_of_training_has_usual_rates_too(features_of):
    """No trainer is recognised, and the settings show the kind."""
    logged = {"reward": [0.1, 0.2], "completion_length": [10.0, 11.0], "learning_rate": [1e-6, 1e-6]}
    values = features_of(logged, {"algorithm": "grpo", "data": "gsm8k", "kl_coef": 0.01}).values

    assert (values["trainer"], values["training_kind"]) == (None, "verifiable-rewards")
    assert values["lr_peak_usual"] == "usual"
