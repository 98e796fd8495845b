"""Roles of metrics by their names."""

import csv
from pathlib import Path

import pytest

from loganalyst.curves.roles import all_roles, assign, normalise
from loganalyst.errors import RuleError

CORPUS = Path(__file__).parents[3] / "shared/corpus/metric-names.csv"


def role(name: str, *others: str) -> str:
    return assign([name, *others])[name][0].name


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("train/loss", "train_loss"),
        ("Loss", "train_loss"),
        ("losses", "train_loss"),
        ("train_loss_epoch", "train_loss"),
        ("lm loss", "train_loss"),
        ("val_loss", "val_loss"),
        ("eval/loss", "val_loss"),
        ("valid loss", "val_loss"),
        ("epoch_accuracy", "train_accuracy"),
        ("val_acc", "val_accuracy"),
        ("metrics/mAP_0.5:0.95", "val_score"),
        ("loss_rpn_cls", "loss_component"),
        ("cls_val_accuracy", "val_accuracy"),
        ("val/acc_class_3", "class_score"),
        ("reg_val_mae", "val_loss_component"),
        ("val/obj_loss", "val_loss_component"),
        ("lr", "learning_rate"),
        ("optim/lr-AdamW", "learning_rate"),
        ("grad_norm", "grad_norm"),
        ("train/grad_norm", "grad_norm"),
        ("grad_norm_square", "grad_norm_squared"),
        ("grad_norm/layer3.weight", "layer_grad_norm"),
        ("rollout/ep_rew_mean", "reward"),
        ("train/entropy_loss", "entropy"),
        ("train/approx_kl", "approx_kl"),
        ("train_loss_kl", "kl"),
        ("D_loss", "discriminator_loss"),
        ("Generator Loss", "generator_loss"),
        ("codebook_perplexity", "codebook_usage"),
        ("valid ppl", "val_perplexity"),
        ("loss_scale", "loss_scale"),
        ("system/gpu.0.memoryAllocated", "gpu_memory"),
        ("system.gpu.1.gpu", "gpu_util"),
        ("system/gpu_0_utilization_percentage", "gpu_util"),
        ("DeviceStatsMonitor.on_train_batch_end/gpu_id: 0/utilization.gpu (%)", "gpu_util"),
        ("gpu_id: 0/utilization.memory (%)", "other"),
        ("system/cpu", "system"),
        ("banana", "other"),
        ("eval_wer", "val_error_rate"),
        ("test/NLL (MAP Model)", "val_loss_component"),
        ("MAE of mAP", "loss_component"),
        ("val_ppl_score", "val_perplexity"),
        ("nll_acc", "train_accuracy"),
        ("map_location", "other"),
        ("precision_16", "other"),
        ("negative log-likelihood", "loss_component"),
        ("Validate Loss", "val_loss"),
        ("Testing accuracy", "val_accuracy"),
        ("Test/CER", "val_error_rate"),
        ("top1_err", "val_error_rate"),
        ("train/wer", "other"),
        ("eval's rmse", "val_loss"),
        ("valid_0's binary_logloss", "val_loss"),
        ("valid_1's l2", "val_loss"),
        ("training's binary_logloss", "train_loss"),
        ("metrics/mAP50(B)", "val_score"),
        ("AverageEpRet", "reward"),
        ("EpRewMean", "reward"),
        ("LossPi", "policy_loss"),
        ("d_X_loss", "discriminator_loss"),
        ("D(x)", "discriminator_score"),
        ("G_A", "generator_loss"),
        ("cycle_A", "loss_component"),
        ("objective/kl", "reference_kl"),
        ("val_kl", "val_kl"),
        ("vae/b16/val_kl_loss", "val_kl"),
        ("rewards/format/std", "reward_spread"),
        ("batch_cost", "step_time"),
        ("best_val_loss", "other"),
        ("Best Accuracy", "other"),
        ("loss_std", "other"),
        ("avg_reader_cost", "data_time"),
        ("ips", "throughput"),
        ("训练损失", "train_loss"),
        ("потери", "train_loss"),
        ("точность", "train_accuracy"),
        ("perda validação", "val_loss"),
        ("précision", "train_accuracy"),
        ("accuratezza", "train_accuracy"),
        ("te_loss", "val_loss"),
        ("vld_acc", "val_accuracy"),
        ("trn_loss", "train_loss"),
        ("Evaluation (episodes)", "reward"),
        ("测试集损失", "val_loss"),
        ("验证准确率", "val_accuracy"),
        ("학습률", "learning_rate"),
        ("Validierungsverlust", "val_loss"),
        ("RecompensaTotala", "reward"),
        ("Gesamtbelohnung", "reward"),
        ("custo_treino", "train_loss"),
        ("media", "other"),
        ("teste_loss", "val_loss"),
        ("tested", "other"),
        ("property_loss", "loss_component"),
        ("dev-clean-TER", "val_error_rate"),
        ("valid_best_wer", "other"),
        ("code_ppl", "codebook_usage"),
        ("Time usage", "other"),
        ("disk_usage", "system"),
        ("l_pix", "loss_component"),
        ("l_var", "loss_component"),
        ("train losses.avg", "train_loss"),
        ("NELBO", "train_loss"),
        ("val deviance", "val_loss"),
        ("current error", "train_loss"),
        ("val_loss_raw", "val_loss"),
        ("pplx", "train_perplexity"),
        ("cumulativeReward100", "reward"),
        ("Скорость обучения", "learning_rate"),
        ("Strata walidacyjna", "val_loss"),
        ("驗證損失", "val_loss"),
        ("val top5err", "val_error_rate"),
        ("Mean rank", "val_error_rate"),
        ("Mean reciprocal rank", "val_score"),
        ("lpips_diversity", "other"),
        ("l_g_percep", "loss_component"),
        ("l_g_gan", "generator_loss"),
        ("l_d_real", "discriminator_loss"),
        ("out_d_fake", "discriminator_score"),
    ],
)
def test_common_names(name: str, wanted: str) -> None:
    """Names in use by trainers and trackers get the role an engineer would give them."""
    assert role(name, "train_loss") == wanted


def test_letters_before_both_measures_name_their_data() -> None:
    """Alone, `V_Loss` is the loss of a value function."""
    roles = assign(["T_Loss", "V_Loss", "T_Acc", "V_Acc", "V_AUC", "LR"])

    assert {name: role.name for name, (role, _) in roles.items()} == {
        "T_Loss": "train_loss", "V_Loss": "val_loss", "T_Acc": "train_accuracy", "V_Acc": "val_accuracy",
        "V_AUC": "val_score", "LR": "learning_rate",
    }  # fmt: skip
    assert assign(["V_Loss"])["V_Loss"][0].name == "value_loss"


def test_hit_ratio_and_ndcg_are_logged_together() -> None:
    assert [assign(names)["HR"][0].name for names in (["HR", "NDCG"], ["HR"])] == ["val_score", "other"]


def test_a_loss_logged_alone_is_the_training_loss() -> None:
    """Whatever its name, by step and by epoch; with another term, or in adversarial training, it is a term."""
    assert role("triplet_loss") == "train_loss"
    assert role("info_nce_loss_step", "info_nce_loss_epoch", "val_loss") == "train_loss"
    assert role("box_loss", "cls_loss") == "loss_component"
    assert role("cycle_loss", "g_loss", "d_loss") == "loss_component"
    assert role("recon_loss", "kl_loss") == "recon_loss"


def test_a_measure_with_a_total_loss_is_a_term() -> None:
    """`l1_loss` may stay 0 while the total falls; alone it is the training loss."""
    assert role("l1_loss", "total_loss", "iou_loss") == "loss_component"
    assert role("total_loss", "l1_loss") == "train_loss"
    assert role("l1_loss", "lr") == "train_loss"
    assert role("train_mse", "loss") == "train_loss"
    assert role("train/l1_loss", "train/box_loss", "train/cls_loss") == "loss_component"
    assert role("val/l1_loss", "val/box_loss", "val/cls_loss") == "val_loss_component"


@pytest.mark.parametrize(
    ("others", "wanted"),
    [
        (("train_loss", "val_loss"), "val_accuracy"),
        (("TrainLoss", "ValLoss", "train_acc"), "val_accuracy"),
        (("loss", "val_loss"), "train_accuracy"),
        (("train_loss", "val_loss", "val_top1"), "train_accuracy"),
        (("train_loss",), "train_accuracy"),
    ],
)
def test_a_score_without_a_split_may_be_held_out(others: tuple[str, ...], wanted: str) -> None:
    """`top1` with `train_loss` and `val_loss` is held out, unless another score is."""
    assert role("top1", *others) == wanted


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


def test_letters_of_a_monitor_count_only_together() -> None:
    """Stable-Baselines3's monitor logs r, l and t; each alone is any letter."""
    together = {name: found.name for name, (found, _) in assign(["r", "l", "t"]).items()}

    assert together == {"r": "reward", "l": "episode_length", "t": "wall_time"}
    assert [role("r", "l"), role("l"), role("t", "r")] == ["other", "other", "step"]


def test_the_users_correction_wins() -> None:
    """A glob in loganalyst.yaml wins, and the reason names it."""
    found = assign(["banana/x"], {"banana/*": "val_loss"})["banana/x"]

    assert found[0].name == "val_loss"
    assert found[1] == "loganalyst.yaml: banana/*"


def test_unknown_role_names_the_nearest() -> None:
    """A correction to a role that does not exist is refused with the nearest one."""
    with pytest.raises(RuleError, match=r"'trainloss' is no role; did you mean 'train_loss'\?"):
        assign(["x"], {"x": "trainloss"})


def test_normalised_names() -> None:
    """Anything that separates words becomes one underscore."""
    assert normalise("metrics/mAP_0.5:0.95 (avg)") == "metrics_map_0_5_0_95_avg"


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


@pytest.mark.parametrize(
    ("metric", "role"),
    [
        ("test-3px-error-r2", "val_loss_component"),  # the error of a second refinement
        ("val_error_top1", "val_error_rate"),
        ("val/token_error_accuracy", "val_loss_component"),
        ("val/1-acc", "val_loss_component"),
        ("val/layer1-acc", "val_accuracy"),
        ("1-acc", "other"),
        ("auc_error", "other"),
        ("val_r2_err", "other"),
        ("recall_error", "other"),
        ("train/reward_error", "other"),
        ("nll_acc_gap", "other"),
        ("accuracy_drop", "other"),
        ("val_auc_loss", "val_loss_component"),
        ("accuracy_loss", "loss_component"),
        ("loss_score", "loss_component"),
        ("val_r2", "val_score"),
        ("val_wer", "val_error_rate"),
    ],
)
def test_an_error_of_a_score_is_no_score(metric: str, role: str) -> None:
    assert assign(["train_loss", metric])[metric][0].name == role
