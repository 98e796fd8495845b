"""The facts of a run: settings with their places, without those of environments and evaluations."""

import loganalyst as la
from loganalyst.checking.facts import known_facts, settings_of
from loganalyst.sources.files.flatten import config_table


def facts(tmp_path, text: str):
    (tmp_path / "config.yaml").write_text(text)
    return known_facts(la.diagnose(tmp_path))


def test_a_setting_has_its_key_and_file(tmp_path):
    shown = facts(tmp_path, "optimizer: {name: AdamW, lr: 2.0e-4}\n").shown("learning_rate")

    assert (shown.value, shown.key, shown.file) == (2e-4, "optimizer.lr", "config.yaml")


def test_a_text_becomes_the_name_whose_word_it_has(tmp_path):
    """`paged_adamw_8bit` is Adam; an unknown text is not known."""
    assert facts(tmp_path, "optim: paged_adamw_8bit\nlr: 1\n").values["optimizer_family"] == "adam"
    assert facts(tmp_path, "optim: mine\nlr: 1\n").values["optimizer_family"] is None


def test_a_program_that_is_recognised_has_its_default(tmp_path):
    """TrainingArguments train by AdamW; an optimiser that is named but not known stays unknown."""
    assert facts(tmp_path, "per_device_train_batch_size: 8\nlr: 1\n").values["optimizer_family"] == "adam"
    named = "per_device_train_batch_size: 8\noptim: mine\n"
    assert facts(tmp_path, named).values["optimizer_family"] is None
    assert facts(tmp_path, "batch_size: 8\nlr: 1\n").values["optimizer_family"] is None


def test_a_key_without_a_known_word_leaves_room_for_the_next(tmp_path):
    text = "model_type: AutoModelForCausalLM\nbase_model: meta-llama/Llama-3.1-8B\n"

    assert facts(tmp_path, text).values["model_family"] == "gated"


def test_modules_with_adapters_are_counted(tmp_path):
    known = facts(tmp_path, "lora_r: 8\ntarget_modules: [q_proj, v_proj]\n")

    assert (known.values["adapter_target_count"], known.values["adapter_targets"]) == (2, "q_proj")


def test_settings_of_an_evaluation_or_an_environment_are_left_out():
    rows = [("eval.max_iters", 100), ("val_loader.batch_size", 1), ("env.CUDA_X", "1"), ("eval_steps", 5), ("lr", 1)]

    assert settings_of(config_table(rows, "config.yaml"))["key"].to_list() == ["eval_steps", "lr"]
    assert settings_of(config_table([("gpu", "A100")], "wandb-metadata.json")).is_empty()
