"""Features of the rise of the training loss."""

from collections.abc import Callable

import numpy as np
import pytest

from loganalyst.features import jumps
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]
NOISE = np.random.default_rng(0).normal(0, 0.01, 300)


def test_a_jump_that_is_half_undone(features_of: FeaturesOf) -> None:
    """From 1 to 3 at step 200 at once, then down to 2 by the end."""
    course = np.concatenate([np.full(200, 1.0), np.linspace(3, 2, 100)]) + NOISE
    row = features_of({"loss": course.tolist()}).values

    assert (row["train_loss_jump_points"], row["train_loss_jump_step"]) == (1, 200)
    assert row["train_loss_jump_share"] == pytest.approx(2 / 3)
    assert row["train_loss_jump_ratio"] == pytest.approx(3.0, rel=0.03)
    assert row["train_loss_jump_undone_share"] == pytest.approx(0.48, abs=0.04)


def test_a_climb_takes_many_points(features_of: FeaturesOf) -> None:
    """From 1 to 5 in 40 points is no jump; a loss that only falls has none at all."""
    climb = np.concatenate([np.full(200, 1.0), np.linspace(1, 5, 40), np.full(60, 5.0)]) + NOISE

    assert features_of({"loss": climb.tolist()}).values["train_loss_jump_points"] >= 4
    assert features_of({"loss": (np.linspace(3, 1, 300) + NOISE).tolist()}).values["train_loss_jump_points"] is None


def test_the_held_out_change_since_the_jump(features_of: FeaturesOf) -> None:
    """From 2 to 1 while the training loss jumps: -0.5. Without held-out values nothing is known."""
    course = (np.concatenate([np.full(200, 1.0), np.linspace(3, 2, 100)]) + NOISE).tolist()
    held_out = [2.0] * 200 + [1.0] * 100

    assert features_of({"loss": course, "val_loss": held_out}).values["val_change_since_jump"] == -0.5
    assert features_of({"loss": course}).values["val_change_since_jump"] is None


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    assert jumps.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {}
