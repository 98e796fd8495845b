"""Roles of names by the other names of their file."""

import pytest

from loganalyst.curves.roles import assign
from tests.curves.rolesof import role


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


def test_letters_of_a_monitor_count_only_together() -> None:
    """Stable-Baselines3's monitor logs r, l and t; each alone is any letter."""
    together = {name: found.name for name, (found, _) in assign(["r", "l", "t"]).items()}

    assert together == {"r": "reward", "l": "episode_length", "t": "wall_time"}
    assert [role("r", "l"), role("l"), role("t", "r")] == ["other", "other", "step"]
