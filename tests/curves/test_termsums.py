"""Terms that add up to a total."""

import numpy as np
import pytest

from loganalyst.curves.termsums import changes
from tests.curves.curvesof import Logged, claims_of, curves_of

RANDOM = np.random.default_rng(5)
A, B, C = (list(1 + RANDOM.random(40)) for _ in range(3))


def changed(logged: Logged) -> dict[str, tuple[str, float]]:
    """The role and the weight of each term."""
    found = changes(curves_of(logged), claims_of(*logged))
    return {metric: (claim.role.name, round(claim.weight, 6)) for metric, claim in found.items()}


def test_a_loss_that_is_a_term_of_another() -> None:
    total = [a + 0.02 * b for a, b in zip(A, B, strict=True)]

    assert changed({"loss": total, "ce": A, "kl": B}) == {"ce": ("loss_component", 1.0), "kl": ("kl", 0.02)}


def test_plain_sums() -> None:
    total = [a + b + c for a, b, c in zip(A, B, C, strict=True)]
    terms = {"loss_cls": A, "loss_box": B, "loss_mask": C}

    assert changed({"loss": total, **terms}) == dict.fromkeys(terms, ("loss_component", 1.0))
    assert changed({"loss": [round(x, 3) for x in total], **terms}) == dict.fromkeys(terms, ("loss_component", 1.0))
    assert changed({"loss": A, "loss_box": B, "loss_mask": C}) == {}


@pytest.mark.parametrize("total", [[a - b for a, b in zip(A, B, strict=True)], A, [1.0] * 40])
def test_no_sum(total: list[float]) -> None:
    """Neither a difference nor a copy nor a constant shows terms."""
    assert changed({"loss": total, "loss_a": A, "loss_b": B}) == {}


def test_rewards_that_add_up() -> None:
    total = [a + b for a, b in zip(A, B, strict=True)]

    assert changed({"reward": total, "reward_mean_a": C, "total_format_reward": A, "total_answer_reward": B}) == {
        "total_format_reward": ("reward_component", 1.0),
        "total_answer_reward": ("reward_component", 1.0),
    }


def test_a_measure_below_the_total() -> None:
    """A weight that changes over the run leaves only the order of both losses."""
    total = [a + 0.001 * k * b for k, (a, b) in enumerate(zip(A, B, strict=True))]

    assert changed({"loss": total, "ce": A, "kl": B}) == {"ce": ("loss_component", 1.0)}
    assert changed({"loss": total, "ce": [2 * a for a in A], "kl": B}) == {}
    assert changed({"loss": total, "ce": A, "lr": B}) == {}


def test_few_points_show_nothing() -> None:
    total = [a + b for a, b in zip(A, B, strict=True)]

    assert changed({"loss": total[:7], "loss_a": A[:7], "loss_b": B[:7]}) == {}
