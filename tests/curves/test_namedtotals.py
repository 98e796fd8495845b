"""Losses named `total`, and their terms."""

import numpy as np
import pytest

from loganalyst.curves.namedtotals import changes
from tests.curves.curvesof import Logged, claims_of, curves_of

RANDOM = np.random.default_rng(5)
A, B, C = (list(3 * 0.9 ** np.arange(40) + 0.1 * RANDOM.random(40)) for _ in range(3))
SUM = [a + 0.5 * b + c for a, b, c in zip(A, B, C, strict=True)]


def changed(logged: Logged) -> dict[str, str]:
    found = changes(curves_of(logged), claims_of(*logged))
    return {metric: claim.role.name for metric, claim in found.items()}


@pytest.mark.parametrize("part", ["", "train_", "train/"])
def test_a_total_and_its_terms(part: str) -> None:
    """`ic` is also a rank correlation."""
    found = changed({f"{part}total": SUM, f"{part}pde": A, f"{part}ic": B, f"{part}bc": C})

    assert found == {f"{part}total": "train_loss", **{f"{part}{t}": "loss_component" for t in ("pde", "ic", "bc")}}


def test_of_held_out_data() -> None:
    found = changed(
        {"train/total": SUM, "train/seg": A, "train/cls": B, "dev/total": SUM, "dev/a": A, "dev/b": B, "dev/c": C}
    )

    assert found == {"dev/total": "val_loss", **{f"dev/{t}": "val_loss_component" for t in "abc"}}
    assert changed({"dev/total": SUM, "dev/a": A, "dev/b": B, "train/c": C}) == {}


def test_a_total_beside_a_known_term() -> None:
    """Weights that change hide the sum: the role is unsure."""
    found = changes(curves_of(logged := {"total": SUM, "kl": A, "recon": C}), claims_of(*logged))

    assert {m: (c.role.name, c.unsure) for m, c in found.items()} == {"total": ("train_loss", True)}


def test_a_score_that_is_a_term_of_the_loss() -> None:
    logged = {"loss": SUM, "pde": A, "ic": B, "bc": C}

    assert changed(logged) == {"ic": "loss_component"}


@pytest.mark.parametrize(
    "logged",
    [
        {"total": [100.0] * 40, "correct": list(range(40)), "wrong": [100.0 - i for i in range(40)]},  # counts
        {"total": [-x for x in SUM], "a": [-x for x in A], "b": [-0.5 * x for x in B], "c": [-x for x in C]},
        {"total": SUM[::-1], "data": A[::-1], "forward": B[::-1], "backward": C[::-1]},  # times that grow
        {"total": SUM, "loss": A, "x": B, "y": C},  # the loss has a name of its own
        {"total": SUM, "ctrl": A, "forward": B, "alive": C, "episode_length": A},  # rewards
        {"total": SUM, "a": A, "b": B},
        {"total": SUM[:3], "a": A[:3], "b": B[:3]},
        {"total": [float("nan")] * 40, "a": A, "b": B},
    ],
)
def test_other_totals(logged: Logged) -> None:
    assert changed(logged) == {}
