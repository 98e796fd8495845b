"""Features of the config: optimiser, batches, model and data."""

from collections.abc import Callable
from typing import Any

import pytest

from loganalyst.features import setup
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]


def test_the_samples_of_an_update(features_of: FeaturesOf) -> None:
    """The global batch counts, otherwise the batch times the accumulation."""
    parts = {"per_device_train_batch_size": 8, "gradient_accumulation_steps": 4}

    assert features_of({"loss": [1.0]}, parts).values["config_batch"] == 32
    assert features_of({"loss": [1.0]}, parts | {"global_batch_size": 512}).values["config_batch"] == 512
    assert features_of({"loss": [1.0]}, {"gradient_accumulation_steps": 4}).values["config_batch"] is None


def test_beta_is_that_of_preference_training_only_beside_its_metrics(features_of: FeaturesOf) -> None:
    """TRL calls it `beta`, as others call the weight of a KL term."""
    beta = {"beta": 0.01}
    margins = {"rewards/margins": [0.0, 0.1, 0.2], "rewards/chosen": [0.0] * 3, "rewards/rejected": [0.0] * 3}

    assert features_of(margins, beta).values["config_dpo_beta"] == 0.01
    assert features_of({"loss": [3.0, 2.0, 1.0]}, beta).values["config_dpo_beta"] is None


def test_adapters_are_scaled_by_alpha_over_rank(features_of: FeaturesOf) -> None:
    """An alpha of 64 at rank 8 multiplies by 8; without a rank the scale is not known."""
    row = features_of({"loss": [1.0]}, {"peft.lora_alpha": 64, "peft.r": 8}).values
    whole_file = features_of({"loss": [1.0]}, {"lora_alpha": 512, "r": 8}).values  # adapter_config.json
    apart = features_of({"loss": [1.0]}, {"model.lora_alpha": 64, "data.r": 8}).values

    assert (whole_file["config_lora_rank"], whole_file["config_lora_scale"]) == (8, 64)
    assert (apart["config_lora_rank"], apart["config_lora_scale"]) == (None, None)
    assert (row["config_lora_rank"], row["config_lora_alpha"], row["config_lora_scale"]) == (8, 64, 8)
    assert features_of({"loss": [1.0]}, {"lora_alpha": 64}).values["config_lora_scale"] is None


def test_the_trainable_share(features_of: FeaturesOf) -> None:
    """400 of 16,000 parameters; not known with adapters, or if the numbers contradict each other."""
    settings = {"num_parameters": 16_000, "trainable_parameters": 400}

    assert features_of({"loss": [1.0]}, settings).values["config_trainable_share"] == pytest.approx(0.025)
    for more in ({"lora_r": 8}, {"num_parameters": 100}):
        assert features_of({"loss": [1.0]}, settings | more).values["config_trainable_share"] is None


def test_the_share_of_the_embedding(features_of: FeaturesOf) -> None:
    """50,000 words of width 256 are 12.8 of 16.2 million parameters; contradicting numbers give none."""
    settings = {"model.vocab_size": 50_000, "model.n_embd": 256, "n_params": 16_200_000}

    assert features_of({"loss": [1.0]}, settings).values["embedding_parameter_share"] == pytest.approx(12.8 / 16.2)
    assert features_of({"loss": [1.0]}, settings | {"n_params": 1000}).values["embedding_parameter_share"] is None
    gpt = {"vocab_size": 50257, "n_embd": 256, "n_layer": 2}  # 12.9 million in the table, 1.6 million in the layers
    row = features_of({"loss": [1.0]}, gpt).values
    assert row["embedding_parameter_share"] == pytest.approx(0.891, abs=0.001)


def test_the_same_path_for_training_and_held_out_data(features_of: FeaturesOf) -> None:
    """One path for both is the same data, two are not, one alone is unknown."""

    def same(**config: str) -> object:
        return features_of({"loss": [1.0]}, config).values["config_same_data"]

    assert same(train_file="a.txt", validation_file="a.txt") is True
    assert same(train_file="a.txt", validation_file="b.txt") is False
    assert same(train_file="a.txt") is None


def test_settings_are_read_by_their_usual_names(features_of: FeaturesOf) -> None:
    """A switch is yes or no, and unknown if it says something else."""
    settings = {
        "optim.betas.1": 0.999,
        "adam_epsilon": 1e-8,
        "label_smoothing": 0.1,
        "dpo.beta": 0.01,
        "shuffle": "False",
    }
    row = features_of({"loss": [1.0]}, settings).values

    assert (row["config_beta2"], row["config_epsilon"], row["config_smoothing"]) == (0.999, 1e-8, 0.1)
    assert (row["config_dpo_beta"], row["config_shuffle"]) == (0.01, False)
    assert features_of({"loss": [1.0]}, {"shuffle": "by length"}).values["config_shuffle"] is None


def test_the_usual_rate_of_sgd_grows_with_the_batch(features_of: FeaturesOf) -> None:
    """0.1 for 256 samples, so 0.4 for 1,024."""
    assert features_of({"loss": [1.0]}, {"batch_size": 1024}).values["lr_for_batch"] == 0.4
    assert features_of({"loss": [1.0]}).values["lr_for_batch"] is None


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """A setting that the config lacks is None."""
    values = setup.compute(context_of({"other": [1.0, 2.0, 3.0]}))

    assert values == dict.fromkeys(feature.name for feature in setup.FEATURES)


@pytest.mark.parametrize(
    ("config", "shuffled"),
    [
        ({"shuffle": False}, False),
        ({"data.train.shuffle": True}, True),
        ({"val_dataloader.shuffle": False}, None),
        ({"actor_rollout_ref.actor.shuffle": False}, None),  # verl: the order of the batches of an update
        ({"replay_buffer.shuffle": False, "data.shuffle": True}, True),
        ({"data.test.shuffle": False, "data.train.shuffle": True}, True),
        ({"shuffle_eval": False, "train-shuffle": False}, False),
        ({"no_shuffle": True}, False),
        ({"disable_shuffling": False}, True),
        ({"shuffle": "maybe"}, None),
        ({}, None),
    ],
)
def test_only_the_order_of_the_training_data_counts(
    features_of: FeaturesOf, config: dict[str, Any], shuffled: bool | None
) -> None:
    assert features_of({"loss": [2.0, 1.0]}, config).values["config_shuffle"] is shuffled


@pytest.mark.parametrize(
    ("config", "width"), [({"width": 2}, 2.0), ({"model.hidden_size": 768}, 768.0), ({"image_width": 64}, None)]
)
def test_the_units_of_the_layers(features_of: FeaturesOf, config: dict[str, object], width: float | None) -> None:
    assert features_of({"loss": [1.0, 0.5]}, config=config).values["config_width"] == width
