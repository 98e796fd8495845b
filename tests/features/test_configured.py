"""Settings that name a cause, under the names that trainers give them."""

from typing import Any

import numpy as np
import pytest

LOSS = {"loss": np.linspace(2.0, 1.0, 4001).tolist()}


@pytest.mark.parametrize(
    ("config", "feature", "expected"),
    [
        ({"gamma": 0.0}, "config_gamma", 0.0),
        ({"algorithm.gamma": 0.9}, "config_gamma", 0.9),
        ({"lr_scheduler.gamma": 0.1}, "config_gamma", None),
        ({"lr_scheduler.gamma": 0.1, "ppo.discount": 0.95}, "config_gamma", 0.95),
        ({"focal_loss.gamma": 2.0}, "config_gamma", None),
        ({"gae_lambda": 0.0}, "config_gae_lambda", 0.0),
        ({"hyperparameters.lambd": 0.95}, "config_gae_lambda", 0.95),
        ({"clip_reward": 0.01}, "config_reward_clip", 0.01),
        ({"clip_reward": True}, "config_reward_clip", 1.0),
        ({"clip_rewards": False}, "config_reward_clip", 0.0),
        ({"reward_clip_range": -5.0}, "config_reward_clip", 5.0),
        ({"router_aux_loss_coef": 0.0}, "config_router_balance", 0.0),
        ({"model.moe_aux_loss_coeff": 0.01}, "config_router_balance", 0.01),
        ({"router_aux_loss_coef": 0.0, "moe_router_enable_expert_bias": True}, "config_router_balance", None),
        ({"scheduler.step_size": 30}, "config_step_size", 30.0),
        ({"save_steps": 250}, "config_save_steps", 250.0),
        ({"trainer.checkpoint_interval": 500}, "config_save_steps", 500.0),
        ({"ema_decay": 0.999}, "config_ema_decay", 0.999),
        ({"train.ema.decay": 0.99}, "config_ema_decay", 0.99),
    ],
)
def test_one_setting(features_of: Any, config: dict[str, Any], feature: str, expected: float | None) -> None:
    assert features_of(LOSS, config).values[feature] == expected


@pytest.mark.parametrize(
    ("config", "share"),
    [
        ({"ema_decay": 0.99995}, 0.99995**4000),
        ({"ema_decay": 0.999}, 0.999**4000),
        ({"ema_decay": 0.99995, "use_ema_warmup": True}, None),
        ({"ema_decay": 0.99995, "use_ema_warmup": False}, 0.99995**4000),
        ({"ema_decay": 1.0}, None),
    ],
)
def test_how_much_of_the_initial_weights_an_average_holds(
    features_of: Any, config: dict[str, Any], share: float | None
) -> None:
    """The last step is 4,000; with a warm-up of the decay the share is not known."""
    assert features_of(LOSS, config).values["ema_initial_share"] == pytest.approx(share)


def test_steps_that_may_be_passes_are_no_updates(features_of: Any) -> None:
    """A last step of 150 with a decay of 0.995 says nothing: each pass has many updates."""
    assert (
        features_of({"loss": [2.0 - i / 100 for i in range(151)]}, {"ema_decay": 0.995}).values["ema_initial_share"]
        is None
    )


FALLING = [2.0 - i / 1000 for i in range(1501)]


@pytest.mark.parametrize(
    ("logged", "config", "share"),
    [
        ({"loss": FALLING}, {"ema_decay": 0.999, "epochs": 1500}, None),
        ({"loss": FALLING, "epoch": [float(i) for i in range(1501)]}, {"ema_decay": 0.999}, None),
        ({"loss": FALLING, "epoch": [i / 100 for i in range(1501)]}, {"ema_decay": 0.999}, 0.999**1500),
        ({"loss": FALLING[:301], "epoch": [i / 100 for i in range(301)]}, {"ema_decay": 0.999}, 0.999**300),
    ],
)
def test_only_steps_that_count_updates_count(features_of: Any, logged: Any, config: Any, share: float | None) -> None:
    """A plan of as many passes, or a counter of passes beside the steps, shows what the steps count."""
    assert features_of(logged, config).values["ema_initial_share"] == pytest.approx(share)


def test_the_trained_weights_may_be_named_too(features_of: Any) -> None:
    found = features_of({"val_loss_raw": [1.0, 0.5, 0.2], "val_loss_ema": [1.0, 0.9, 0.8]}).values

    assert (found["ema_metric"], found["ema_gap_ratio"]) == ("val_loss_ema", pytest.approx(4.0))


@pytest.mark.parametrize("name", ["val/loss_ema", "ema/val_loss", "val_loss.ema", "ema_val_loss"])
def test_averaged_weights_are_compared_with_the_trained_ones(features_of: Any, name: str) -> None:
    plain = "val/loss" if "/" in name else "val_loss"
    found = features_of({**LOSS, plain: [0.9, 0.5, 0.4], name: [1.1, 1.05, 1.0]}).values

    assert found["ema_metric"] == name
    assert found["ema_gap_ratio"] == pytest.approx(2.5)


def test_without_a_twin_there_is_no_comparison(features_of: Any) -> None:
    """`schema_loss` and `cinema` name no average."""
    found = features_of({**LOSS, "val/loss_ema": [1.1, 1.0, 0.9], "val/schema_loss": [1.0, 1.0, 1.0]}).values

    assert found["ema_gap_ratio"] is None


@pytest.mark.parametrize(
    ("tokenizer", "model", "differs"),
    [
        ("gpt2", "mistralai/Mistral-7B-v0.3", True),
        ("meta-llama/Llama-2-7b-hf", "Qwen/Qwen3-8B", True),
        ("mistralai/Mistral-7B-v0.3", "mistralai/Mixtral-8x7B-v0.1", False),
        ("EleutherAI/gpt-neox-20b", "EleutherAI/pythia-160m", False),
        ("Qwen/Qwen2.5-7B", "deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", False),
        ("./tokenizer", "Qwen/Qwen3-8B", None),
        ("adopt-tokenizer", "Qwen/Qwen3-8B", None),
    ],
)
def test_names_of_tokenizer_and_model(features_of: Any, tokenizer: str, model: str, differs: bool | None) -> None:
    """Only known families are compared; a family within a word does not count."""
    config = {"tokenizer_name_or_path": tokenizer, "model_name_or_path": model}

    assert features_of(LOSS, config).values["config_tokenizer_differs"] is differs
