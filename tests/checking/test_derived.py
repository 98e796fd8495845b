"""Values that are worked out from several settings, and what they need."""

import pytest

from loganalyst.checking.derived import DERIVED, Known, derive


def worked_out(name: str, *, kind=None, modules=0, settings=9, **values):
    return derive(values, kind=kind, modules=modules, settings=settings)[name]


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("batch_total", {"batch_per_device": 4.0, "accumulation": 8.0, "devices": 8.0}, 256.0),
        ("batch_total", {"batch_plain": 12.0, "accumulation": 40.0, "devices": 8.0}, 480.0),
        ("batch_total", {"batch_global": 512.0, "batch_per_device": 4.0}, 512.0),
        ("batch_total", {"batch_plain": 4096.0, "batch_per_device": 64.0}, 4096.0),
        # DeepSpeed: the batch of one update, and that of one device
        (
            "batch_total",
            {"batch_plain": 256.0, "batch_per_device": 8.0, "batch_deepspeed": 8.0, "accumulation": 4.0},
            256.0,
        ),
        # Lightning: each device has a batch of its own
        (
            "batch_total",
            {"batch_plain": 16.0, "lightning_devices": 4.0, "lightning_nodes": 2.0, "accumulation": 2.0},
            256.0,
        ),
        ("batch_total", {"batch_plain": 16.0, "lightning_nodes": 1.0}, 16.0),
        # MMEngine: the batch of one device
        ("batch_total", {"batch_plain": 2.0, "batch_mmengine": 2.0}, None),
        ("batch_total", {"batch_plain": 2.0, "batch_mmengine": 2.0, "devices": 8.0}, 16.0),
        ("size_known", {"size_stated": 1e9}, True),
        ("size_known", {}, False),
        ("batch_total", {"accumulation": 8.0}, None),
        ("tokens_per_update", {"batch_global": 524288.0, "sequence_length": 1024.0}, 524288.0),
        ("tokens_per_update", {"batch_plain": 8.0, "sequence_length": 1024.0}, 8192.0),
        (
            "tokens_per_parameter",
            {"batch_plain": 64.0, "sequence_length": 1024.0, "steps_planned": 6000.0, "size_stated": 1.3e9},
            pytest.approx(0.3025, abs=1e-4),
        ),
        ("tokens_per_parameter", {"tokens_stated": 2.6e10}, None),
        ("data_passes", {"epochs_planned": 3.0}, 3.0),
        ("data_passes", {"epochs_planned": 3.0, "steps_planned": 100.0}, None),
        ("data_passes", {"epochs_planned": 9.2e18}, None),
        ("data_passes", {"epochs_planned": 3.0, "run_epochs": 2.5}, 2.5),
        ("data_passes", {"tokens_stated": 2e9, "dataset_tokens": 5e7}, 40.0),
        ("warmup_share", {"warmup_steps": 100.0, "steps_planned": 1000.0}, 0.1),
        ("warmup_share", {"warmup_steps": 0.0, "warmup_ratio": 0.03}, 0.03),
        ("warmup_share", {"warmup_steps": 0.0, "steps_planned": 1000.0}, 0.0),
        ("warmup_share", {"warmup_steps": 100.0}, None),
        ("warmup_share", {"warmup_steps": -1.0}, None),
        ("warmup_share", {"warmup_epochs": 5.0, "epochs_planned": 100.0}, 0.05),
        ("schedule_share", {"schedule_total": 500.0, "steps_planned": 1000.0}, 0.5),
        ("schedule_share", {"schedule_total": 90.0, "steps_planned": 1e6, "epochs_planned": 90.0}, 1.0),
        ("schedule_share", {"schedule_total": 90.0, "steps_planned": 1e6}, None),
        ("adapter_scale", {"adapter_rank": 16.0, "adapter_alpha": 32.0}, 2.0),
        ("adapter_scale", {"adapter_rank": 16.0, "adapter_alpha": 32.0, "adapter_rank_stable": True}, None),
        ("adapters", {"adapter_rank": 0.0}, False),
        ("adapters", {"adapter_rank": 8.0}, True),
        ("adapters", {"adapter_type": "lora"}, True),
        ("beta2_used", {"betas": "(0.9, 0.95)"}, 0.95),
        ("beta2_used", {"betas": "(0.9, 0.95)", "beta2": 0.99}, 0.99),
        ("beta2_used", {"betas": "(., ...)"}, None),
        ("beta2_used", {}, None),
        ("precision_kind", {"bf16_on": True, "fp16_on": False}, "bf16"),
        ("precision_kind", {"bf16_on": True, "fp16_on": True}, None),
        ("precision_kind", {"precision_name": "fp16"}, "fp16"),
        ("model_size", {"base_model": "Qwen/Qwen2.5-0.5B"}, 5e8),
        ("model_size", {"size_stated": 1e9, "base_model": "Qwen/Qwen2.5-0.5B"}, 1e9),
        ("model_size", {"vocabulary": 100.0, "width": 10.0, "layers": 2.0}, 3400.0),
        ("model_size", {"vocabulary": 100.0, "width": 10.0, "layers": 2.0, "two_stacks": True}, None),
        ("head_width_left", {"width": 768.0, "heads": 10.0}, 8.0),
        ("head_width_left", {"width": 768.0, "heads": 10.0, "head_width": 128.0}, None),
        ("kv_heads_left", {"heads": 32.0, "kv_heads": 8.0}, 0.0),
        ("length_ratio", {"sequence_length": 2048.0, "positions": 512.0}, 4.0),
        ("seed_recorded", {"learning_rate": 0.1}, False),
        ("seed_recorded", {"learning_rate": 0.1, "seed": 0.0}, True),
        ("seed_recorded", {}, None),
    ],
)
def test_a_value_is_worked_out(name, values, expected):
    """None where something is missing."""
    assert worked_out(name, **values) == expected


def test_79_per_cent_of_the_parameters_in_the_embedding():
    """A vocabulary of GPT-2 on a narrow model, from its config alone."""
    share = worked_out("embedding_share", vocabulary=50257.0, width=128.0, layers=8.0)

    assert share == pytest.approx(0.80, abs=0.01)


def test_a_small_config_is_not_asked_for_records():
    """Four settings are no whole config."""
    assert worked_out("seed_recorded", settings=4, learning_rate=0.1) is None


def test_the_kind_decides_what_a_language_model_is():
    assert worked_out("language_model", kind="pretraining") is True
    assert worked_out("language_model", kind="supervised", vocabulary=100.0) is False
    assert worked_out("language_model", vocabulary=100.0) is True
    assert worked_out("kind") == "unknown"


def test_epochs_over_samples_of_its_own_are_no_passes_over_data():
    assert worked_out("data_passes", kind="reinforcement", epochs_planned=10.0) is None


def test_every_derived_value_is_declared():
    assert {*derive({}, kind=None, modules=0, settings=0)} == {fact.name for fact in DERIVED}
    assert Known({"a": True}).number("a") is None
