"""Roles that need company: rewards, discriminators, codebooks."""

import pytest

from loganalyst.curves.rolecompany import changes
from tests.curves.curvesof import claims_of


def judged(*metrics: str, settings: tuple[str, ...] = ()) -> tuple[str, float | None]:
    """Role and confidence of the first metric."""
    claims = claims_of(*metrics)
    found = (claims | dict(changes(claims, settings)))[metrics[0]]
    return found.role.name, found.confidence


@pytest.mark.parametrize(
    ("metrics", "settings", "wanted"),
    [
        (("reward",), (), ("reward", 0.6)),
        (("reward", "loss"), (), ("reward", 0.6)),
        (("reward", "ep_len_mean"), (), ("reward", 0.97)),
        (("reward", "eps"), (), ("reward", 0.97)),
        (("reward",), ("env_id",), ("reward", 0.97)),
        (("reward",), ("optim.env_name",), ("reward", 0.97)),
        (("episode_reward",), (), ("reward", 0.97)),
        (("score", "loss"), (), ("val_score", 0.6)),
        (("test_score", "valid_loss"), (), ("val_score", 0.6)),
        (("train_auc_score", "valid_loss"), (), ("other", None)),
        (("score", "episode"), (), ("reward", 0.97)),
        (("ret", "ep"), (), ("reward", 0.97)),
        (("format_reward", "reward"), (), ("reward_component", 0.97)),
        (("format_reward",), (), ("reward", 0.6)),
        (("format_reward", "approx_kl"), (), ("reward", 0.97)),
        (("g_loss",), (), ("generator_loss", 0.6)),
        (("g_loss", "d_loss"), (), ("generator_loss", 0.97)),
        (("v_loss",), (), ("value_loss", 0.6)),
        (("entropy", "train_accuracy"), (), ("entropy", 0.6)),
        (("entropy", "policy_loss"), (), ("entropy", 0.97)),
        (("codebook_usage",), (), ("codebook_usage", 0.97)),
        (("rewards/chosen", "rewards/rejected", "rewards/margins"), (), ("chosen_reward", 0.97)),
        (("Positive Score", "Negative Score"), (), ("chosen_reward", 0.97)),
        (("Positive Score",), (), ("chosen_reward", 0.6)),
        (("loss",), (), ("train_loss", 0.9)),
    ],
)
def test_company(metrics: tuple[str, ...], settings: tuple[str, ...], wanted: tuple[str, float]) -> None:
    assert judged(*metrics, settings=settings) == wanted


def test_a_setting_of_many_trainings_is_no_company() -> None:
    """`gamma` is a decay of schedules and a focus of losses too."""
    assert judged("reward", settings=("gamma", "policy", "batch_size")) == ("reward", 0.6)
