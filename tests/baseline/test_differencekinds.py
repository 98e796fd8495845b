"""Which kind a setting is of, and that the file of kinds is sound."""

import pytest

from loganalyst.baseline.differencekinds import kinds
from loganalyst.pipeline import catalogue

LABELS = {rule.label for rule in catalogue().rules.values()}


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("lr", "rate"),
        ("optim.lr", "rate"),
        ("optimizer.param_groups.0.lr", "rate"),
        ("--learning-rate", "rate"),
        ("train.warmup_steps", "schedule"),
        ("max_grad_norm", "clip"),
        ("trainer.gradient_clip_val", "clip"),
        ("trainer.precision", "precision"),
        ("optim.name", "optimiser"),
        ("betas.1", "optimiser"),
        ("data.batch_size", "batch"),
        ("gradient_accumulation_steps", "batch"),
        ("kl_weight", "objective"),
        ("dataset.path", "data"),
        ("max_seq_len", "length"),
        ("model.layers", "model"),
        ("n_embd", "model"),
        ("weight_decay", "regularisation"),
        ("init_from", "model"),
        ("num_workers", "loader"),
        ("epochs", "duration"),
        ("seed", "seed"),
        ("git.commit", "code"),
        ("program", "script"),
        ("args.3", "script"),
        ("torch_version", "versions"),
        ("packages.numpy", "versions"),
        ("host", "place"),
        ("SLURM_JOB_NODELIST", "place"),
        ("gpu_devices.0.name", "place"),
        ("my_switch", "other"),
    ],
)
def test_a_setting_is_of_its_kind(key, kind):
    assert kinds().kind_of(key).name == kind


@pytest.mark.parametrize(
    "key",
    ["run_id", "display_name", "startedAt", "heartbeatAt", "output_dir", "SLURM_JOB_ID", "MASTER_PORT", "exit_code"],
)
def test_what_differs_between_any_two_runs_is_left_out(key):
    assert kinds().kind_of(key) is None


def test_only_labels_of_the_catalogue_or_the_common_list_are_named():
    """A misspelt label would never be found."""
    common = {
        "data_leakage", "data_exhaustion", "class_imbalance", "distribution_shift", "label_noise", "train_val_mismatch",
        "catastrophic_forgetting", "adapter_config", "warmup_missing", "batch_lr_mismatch", "embedding_instability",
        "attention_collapse", "loss_scaling", "other",
    }  # fmt: skip
    named = {label for kind in kinds().kinds.values() for label in kind.causes}

    assert named - LABELS - common == set()


def test_a_change_of_a_setting_can_be_behind_a_cause_one_way_and_mend_it_the_other():
    rate = kinds().kinds["rate"]

    assert (rate.behind("lr_too_high", "up"), rate.behind("lr_too_high", "down")) == (True, False)
    assert (rate.mends("lr_too_high", "up"), rate.mends("lr_too_high", "down")) == (False, True)
    assert (rate.behind("lr_schedule", None), rate.behind("cuda_oom", "up"), rate.mends("cuda_oom", "up")) == (
        True,
        False,
        False,
    )
