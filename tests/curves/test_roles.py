"""Roles of metrics by their names."""

import csv
from pathlib import Path

import pytest

from loganalyst.curves.roles import all_roles, assign
from loganalyst.errors import RuleError
from tests.curves.rolesof import role

CORPUS = Path(__file__).parents[3] / "shared/corpus/metric-names.csv"


def test_a_divergence_in_reinforcement_learning_is_that_of_a_policy() -> None:
    """Near 0 is normal there; for a latent code it would be a collapse."""
    assert role("kl", "reward") == "reference_kl"
    assert role("loss_kl", "loss_vf_loss", "EpRewMean") == "approx_kl"
    assert role("kl", "recon_loss") == "kl"


def test_perplexity_with_a_quantisation_loss_is_that_of_the_codebook() -> None:
    """For a language model it is the exponential of the loss, which is not judged."""
    assert role("perplexity", "vq_loss", "loss") == "codebook_usage"
    assert role("perplexity", "loss") == "train_perplexity"


def test_penalties_are_no_terms_that_must_fall() -> None:
    """Penalties on weights and on the use of experts are small and rise by nature; a regression loss is a term."""
    assert role("l1_reg_loss", "loss") == "regularisation_loss"
    assert role("load_balancing_loss", "loss") == "regularisation_loss"
    assert role("loss_reg", "loss") == "loss_component"


def test_losses_of_reinforcement_learning_are_not_judged_as_training_losses() -> None:
    """A run with rewards has no training loss whose level means anything."""
    assert role("train/loss", "rollout/ep_rew_mean") == "rl_loss"
    assert role("train/loss") == "train_loss"


def test_the_users_correction_wins() -> None:
    """A glob in loganalyst.yaml wins, and the reason names it."""
    found = assign(["banana/x"], {"banana/*": "val_loss"})["banana/x"]

    assert found[0].name == "val_loss"
    assert found[1] == "loganalyst.yaml: banana/*"


def test_unknown_role_names_the_nearest() -> None:
    """A correction to a role that does not exist is refused with the nearest one."""
    with pytest.raises(RuleError, match=r"'trainloss' is no role; did you mean 'train_loss'\?"):
        assign(["x"], {"x": "trainloss"})


def test_every_role_has_a_meaning_and_a_direction() -> None:
    assert all(r.meaning and r.worse in ("up", "down", None) for r in all_roles().values())


@pytest.mark.skipif(not CORPUS.is_file(), reason="the labelled metric names are not on this machine")
def test_labelled_names() -> None:
    """Of real metric names at least 90 % get a role of the labelled kind."""
    same = {
        "physics_or_component_loss": {"loss_component", "val_loss_component", "recon_loss"},
        "diffusion_mse": {"loss_component", "val_loss_component", "train_loss", "val_loss"},
        "map_ap": {"val_score"},
        "precision_recall": {"val_score"},
        "nll": {"loss_component", "val_loss_component", "val_loss", "train_loss"},
        "perplexity_lm": {"train_perplexity", "val_perplexity"},
        "gan_discriminator_loss": {"discriminator_loss"},
        "gan_generator_loss": {"generator_loss", "loss_component"},
        "quantisation_or_latent_loss": {"quantisation_loss", "val_loss_component"},
        "recon_loss": {"recon_loss", "val_loss_component"},
        "perplexity_codebook": {"codebook_usage", "train_perplexity"},
        "flops_params": {"parameter_count"},
        "system": {"system", "host_memory", "gpu_memory", "gpu_util"},
        "gpu_memory": {"gpu_memory", "system"},
        "gpu_util": {"gpu_util", "system"},
        "grad_norm": {"grad_norm", "grad_norm_squared"},
        "clip_fraction": {"clip_fraction", "exploration"},
        "reward": {"reward", "reward_spread"},
        "throughput": {"throughput", "step_time"},
        "data_time": {"data_time", "step_time"},
        "kl": {"kl", "approx_kl"},
        "train_loss": {"train_loss", "loss_component"},
        "val_loss": {"val_loss", "val_loss_component"},
    }
    rows = list(csv.DictReader(CORPUS.open()))
    right = sum(role(r["name"], "train_loss") in same.get(r["role"], {r["role"]}) for r in rows)

    assert right / len(rows) > 0.9


def test_roles_are_assigned_file_by_file() -> None:
    """The file name shows held-out data; nothing else of it counts."""
    names = ["epoch", "loss", "lr", "val_loss"]
    expected = {name: role.name for name, (role, _) in assign(names).items()}
    for file in ("rank_3", "0/stdout", "fold1", "train", "slurm-1.err"):
        found = {name: role.name for name, (role, _) in assign(f"{file}::{name}" for name in names).items()}
        assert found == {f"{file}::{name}": role for name, role in expected.items()}
    held_out = assign(["log_train::loss", "log_train::acc", "log_val::loss", "log_val::acc", "a_test::val/loss"])
    assert [role.name for role, _ in held_out.values()] == [
        *("train_loss", "train_accuracy", "val_loss", "val_accuracy", "val_loss")
    ]
    assigned = assign(["a::x", "b::x", "b::y"], {"x": "val_loss", "b::y": "reward"})
    assert [role.name for role, _ in assigned.values()] == ["val_loss", "val_loss", "reward"]
