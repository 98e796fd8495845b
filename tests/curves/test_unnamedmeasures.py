"""Measures whose names say their data, and not what is measured."""

import numpy as np
import pytest

from loganalyst.curves.unnamedmeasures import changes
from tests.curves.curvesof import Logged, claims_of, curves_of

FALLS = [2 * 0.9**i + 0.3 for i in range(40)]
RISES = [0.9 - 0.6 * 0.9**i for i in range(40)]
STILL = list(0.5 + 0.01 * np.random.default_rng(3).random(40))


def changed(logged: Logged) -> dict[str, str]:
    found = changes(curves_of(logged), claims_of(*logged))
    assert all(claim.unsure for claim in found.values())
    return {metric: claim.role.name for metric, claim in found.items()}


@pytest.mark.parametrize(
    ("trained", "held_out"),
    [("train", "held"), ("train/total", "dev/total"), ("train_q", "test_q"), ("Train", "Unseen")],
)
def test_the_training_shows_the_direction(trained: str, held_out: str) -> None:
    assert changed({trained: FALLS, held_out: STILL}) == {trained: "train_loss", held_out: "val_loss"}
    assert changed({trained: RISES, held_out: STILL}) == {trained: "train_accuracy", held_out: "val_score"}
    assert changed({trained: STILL, held_out: FALLS}) == {}


def test_training_alone() -> None:
    assert changed({"Train": FALLS}) == {"Train": "train_loss"}
    assert changed({"train_q": FALLS}) == {}  # anything may fall


@pytest.mark.parametrize("amount", ["time", "samples", "lr", "speed", "batch_size"])
def test_an_amount_is_no_measure(amount: str) -> None:
    assert changed({f"train_{amount}": FALLS, f"val_{amount}": FALLS}) == {}


def test_whole_numbers_are_counts() -> None:
    assert changed({"train_q": [40.0 - i for i in range(40)], "val_q": STILL}) == {}


def test_of_several_measures_the_total_counts() -> None:
    several = {"train/a": FALLS, "dev/a": FALLS, "train/b": FALLS, "dev/b": FALLS}

    assert changed(several) == {}
    assert changed({**several, "train/total": FALLS, "dev/total": STILL}) == {
        "train/total": "train_loss",
        "dev/total": "val_loss",
    }


@pytest.mark.parametrize("known", ["loss", "val_loss", "episode_reward"])
def test_a_known_objective_needs_no_guess(known: str) -> None:
    assert changed({"train_q": FALLS, "val_q": STILL, known: RISES}) == {}


def test_beside_a_score_what_falls_is_the_loss() -> None:
    """The score says what is wanted, and not what was minimised. Another measure that rises may be any score."""
    assert changed({"train_q": FALLS, "val_q": STILL, "val_accuracy": RISES}) == {
        "train_q": "train_loss",
        "val_q": "val_loss",
    }
    assert changed({"train_q": RISES, "val_q": STILL, "val_accuracy": RISES}) == {}
