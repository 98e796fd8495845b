"""Features of the objectives: whether anything got better."""

from collections.abc import Callable

import numpy as np
import pytest

from loganalyst.features import improvement
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]
NOISE = np.random.default_rng(0).normal(0, 0.05, 60)


@pytest.mark.parametrize(
    ("metric", "values", "improved", "kept"),
    [
        ("train_loss", 1 - np.arange(60) / 100 + NOISE, True, False),
        ("train_loss", 1 + NOISE, False, False),
        ("train_loss", 1 + np.arange(60) / 100 + NOISE, False, False),
        ("val_acc", 0.3 + np.arange(60) / 150 + NOISE / 5, True, True),
        ("val_acc", 0.6 - np.arange(60) / 150 + NOISE / 5, False, False),
        ("reward", np.where(np.arange(60) < 40, np.arange(60) / 10.0, 0.5) + NOISE, True, False),
    ],
)
def test_improvements(features_of: FeaturesOf, metric: str, values: np.ndarray, improved: bool, kept: bool) -> None:
    """A loss improves downwards, a score upwards; only a score that stays at its best is kept."""
    found = features_of({metric: values.tolist()}).values

    assert (found["objective_improved"], found["score_improved"]) == (improved, kept)
    assert (found["objective_points"], found["objective_best_metric"]) == (60, metric)


def test_a_loss_that_fell_at_once_and_rose_later_improved(features_of: FeaturesOf) -> None:
    """Its first values count, not only the level of its first tenth."""
    values = [0.8, 0.5, 0.2, *[0.1] * 5, *np.linspace(0.1, 0.3, 25), *[0.2] * 27] + NOISE / 10

    assert features_of({"loss": values.tolist()}).values["objective_improved"] is True


def test_terms_stand_for_a_loss_that_is_not_logged(features_of: FeaturesOf) -> None:
    """With the loss itself, they do not count."""
    term, still = (1 - np.arange(60) / 100 + NOISE).tolist(), (1 + NOISE).tolist()

    assert features_of({"cls_loss": term, "reg_loss": still}).values["objective_improved"] is True
    assert features_of({"cls_loss": term, "loss": still}).values["objective_improved"] is False


def test_too_few_values(features_of: FeaturesOf) -> None:
    """Below six values nothing is known."""
    found = features_of({"train_loss": [3.0, 2.0, 1.0]}).values

    assert found["objective_improved"] is None
    assert found["objective_points"] == 3


@pytest.mark.parametrize(
    ("metric", "values", "steady"),
    [
        ("train_loss", [6.0, 5.0, 4.0, 3.0, 2.0, 1.0], True),
        ("train_loss", [6.0, 5.0, 4.0, 2.0, 3.0, 1.0], False),
        ("val_acc", [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], True),
        ("val_acc", [0.6, 0.5, 0.4, 0.3, 0.2, 0.1], False),
        ("train_loss", [5.0, 4.0, 3.0, 2.0, 1.0], False),  # chance orders five values too often
        ("train_loss", [40.0 - n for n in range(30)], False),  # enough for a standard error
    ],
)
def test_few_values_improve_one_by_one(features_of: FeaturesOf, metric: str, values: list[float], steady: bool) -> None:
    """In the direction that is better."""
    assert features_of({metric: values}).values["objective_steady"] is steady


def test_a_run_without_objectives_has_no_values(context_of: Callable[..., Context]) -> None:
    """A learning rate is no objective."""
    assert improvement.compute(context_of({"lr": [1.0] * 20})) == {
        "objective_known": False,
        "objective_steady": False,
    }
    assert improvement.compute(context_of({"reward": [1.0, 2.0]}))["objective_known"] is True


@pytest.mark.parametrize(
    ("metric", "slope", "fell"),
    [
        ("recon_loss", -0.01, True),
        ("val_loss", -0.01, True),
        ("recon_loss", -0.002, False),  # by 12 %
        ("val_loss", 0.01, False),
        ("learning_rate", -0.01, False),
    ],
)
def test_a_part_that_falls_shows_that_the_model_learns(
    features_of: FeaturesOf, metric: str, slope: float, fell: bool
) -> None:
    """Of a loss that rises, the reconstruction or the held-out value may fall; no other part counts."""
    steps = np.arange(60)
    rising, part = 1 + 0.005 * steps + NOISE / 5, 1 + slope * steps + NOISE / 5

    assert features_of({"train_loss": rising.tolist(), metric: part.tolist()}).values["part_fell"] is fell
    assert features_of({"train_loss": rising.tolist()}).values["part_fell"] is False
