"""Settings of well-known trainings that worked: nothing about them is wrong or unusual."""

import json

import pytest

import loganalyst as la

# training -> its settings as the project states them, under the names that it uses
WORKED = {
    "GPT-2 in nanoGPT": {
        "n_layer": 12, "n_head": 12, "n_embd": 768, "vocab_size": 50304, "block_size": 1024, "batch_size": 12,
        "gradient_accumulation_steps": 40, "learning_rate": 6e-4, "min_lr": 6e-5, "max_iters": 600000,
        "lr_decay_iters": 600000, "warmup_iters": 2000, "weight_decay": 0.1, "beta1": 0.9, "beta2": 0.95,
        "grad_clip": 1.0, "dtype": "bfloat16", "dropout": 0.0, "optimizer": "AdamW", "init_from": "scratch",
    },
    "TinyLlama in LitGPT": {
        "model": {"name": "tiny-llama-1.1b", "block_size": 2048, "padded_vocab_size": 32000, "n_layer": 22,
                  "n_head": 32, "n_embd": 2048, "n_query_groups": 4, "intermediate_size": 5632},
        "train": {"global_batch_size": 512, "micro_batch_size": 4, "lr_warmup_steps": 2000, "learning_rate": 4e-4,
                  "max_tokens": 3000000000000, "beta1": 0.9, "beta2": 0.95, "weight_decay": 0.1, "min_lr": 4e-5},
        "eval": {"max_iters": 100, "interval": 1000}, "seed": 42,
    },
    "Zephyr's DPO": {
        "model_name_or_path": "alignment-handbook/zephyr-7b-sft-full", "bf16": True, "beta": 0.01,
        "optim": "adamw_torch", "learning_rate": 5e-7, "max_length": 1024, "num_train_epochs": 1,
        "per_device_train_batch_size": 8,
        "gradient_accumulation_steps": 2, "warmup_ratio": 0.1, "seed": 42, "output_dir": "data/zephyr-7b-dpo-full",
    },
    "Open-R1's GRPO": {
        "model_name_or_path": "Qwen/Qwen2.5-1.5B-Instruct", "bf16": True, "use_vllm": True, "learning_rate": 2e-5,
        "num_generations": 7, "max_completion_length": 1024, "max_steps": -1, "num_train_epochs": 1,
        "per_device_train_batch_size": 16, "gradient_accumulation_steps": 16, "warmup_ratio": 0.1, "seed": 42,
    },
    "QLoRA in Axolotl": {
        "base_model": "NousResearch/Meta-Llama-3-8B", "model_type": "AutoModelForCausalLM", "load_in_4bit": True,
        "load_in_8bit": False, "adapter": "qlora", "lora_r": 32, "lora_alpha": 16, "lora_dropout": 0.05,
        "sequence_len": 4096, "micro_batch_size": 2, "gradient_accumulation_steps": 4, "num_epochs": 4,
        "optimizer": "paged_adamw_32bit", "learning_rate": 2e-4, "warmup_steps": 10, "weight_decay": 0.0,
        "bf16": "auto",
    },
    "PPO in verl": {
        "actor_rollout_ref": {
            "actor": {"clip_ratio": 0.2, "grad_clip": 1.0, "kl_loss_coef": 0.001, "entropy_coeff": 0, "shuffle": False,
                      "optim": {"lr": 1e-6, "lr_warmup_steps": -1, "weight_decay": 0.01}},
            "rollout": {"temperature": 1.0, "n": 1, "val_kwargs": {"temperature": 0}},
        },
        "critic": {"optim": {"lr": 1e-5}}, "algorithm": {"gamma": 1.0, "lam": 1.0, "adv_estimator": "gae"},
        "data": {"train_batch_size": 1024, "shuffle": True}, "trainer": {"total_epochs": 30},
    },
    "PPO on CartPole in RL Zoo": {
        "algo": "ppo", "env": "CartPole-v1", "n_envs": 8, "n_steps": 32, "batch_size": 256, "gae_lambda": 0.8,
        "gamma": 0.98, "n_epochs": 20, "ent_coef": 0.0, "learning_rate": 1e-3, "clip_range": 0.2, "seed": 0,
    },
    "ResNet-50 on ImageNet": {
        "arch": "resnet50", "optimizer": "sgd", "lr": 0.1, "batch_size": 256, "epochs": 90, "momentum": 0.9,
        "weight_decay": 1e-4, "seed": 0, "pretrained": False,
    },
}  # fmt: skip


@pytest.mark.parametrize("settings", WORKED.values(), ids=WORKED)
def test_nothing_is_wrong_or_unusual(tmp_path, settings):
    """What worked for others is no finding; only what they did not record is."""
    file = tmp_path / "config.json"
    file.write_text(json.dumps(settings))
    found = la.check(file)

    assert [f.id for f in found.findings if f.severity != "record"] == []
    assert found.settings >= 9


def test_settings_of_an_evaluation_are_no_plan(tmp_path):
    """TinyLlama's 100 iterations of an evaluation are not the length of its run."""
    file = tmp_path / "config.json"
    file.write_text(json.dumps(WORKED["TinyLlama in LitGPT"]))
    facts = {fact.name: fact.value for fact in la.check(file).facts}

    assert facts["tokens_per_parameter"] == pytest.approx(2509, rel=0.01)
    assert "warmup_share" not in facts


def test_the_rate_of_the_policy_counts_and_not_that_of_the_critic(tmp_path):
    file = tmp_path / "config.json"
    file.write_text(json.dumps(WORKED["PPO in verl"]))
    facts = {fact.name: fact for fact in la.check(file).facts}

    assert (facts["learning_rate"].value, facts["learning_rate"].key) == (1e-6, "actor_rollout_ref.actor.optim.lr")
