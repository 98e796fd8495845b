"""Features of a loss and the accuracy of the same data."""

import math
from collections.abc import Callable

import pytest

from loganalyst.features import objective
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]
RIGHT = [0.5, 0.9, 0.97, 0.98, 0.98, 0.98]


def inside(classes: int, right: list[float], unsure: float = 0.005) -> list[float]:
    """The cross-entropy of shares given as scores: of the sure and right ln(e + K - 1) - 1, one more of the wrong."""
    return [math.log(math.e + classes - 1) - r + unsure for r in right]


def test_a_doubled_softmax_and_its_classes(features_of: FeaturesOf) -> None:
    """By the loss that remains at the accuracy, as a share or in per cent."""
    for right in (RIGHT, [100 * r for r in RIGHT]):
        found = features_of({"val_loss": inside(10, RIGHT), "val_acc": right}).values
        assert (found["objective_softmax_classes"], found["objective_softmax_basis"]) == (10, "fit")
        assert found["objective_softmax_excess"] == pytest.approx(0.005)
        assert found["objective_accuracy_last"] == 0.98
        assert found["objective_loss_metric"] == "val_loss"


def test_classes_from_the_config_or_the_first_loss(features_of: FeaturesOf) -> None:
    """The first loss counts if it is that of guessing and the last loss fits too."""
    logged = {"loss": [math.log(12) + 0.001, *inside(12, RIGHT[1:])], "acc": RIGHT}
    configured = features_of(logged, {"num_classes": 11}).values
    begun = features_of(logged).values
    chance = features_of({"loss": [math.log(4), *inside(12, RIGHT[1:])], "acc": RIGHT}).values

    assert (configured["objective_softmax_classes"], configured["objective_softmax_basis"]) == (11, "config")
    assert (begun["objective_softmax_classes"], begun["objective_softmax_basis"]) == (12, "first loss")
    assert (chance["objective_softmax_classes"], chance["objective_softmax_basis"]) == (12, "fit")


def test_smoothed_labels_hide_a_doubled_softmax(features_of: FeaturesOf) -> None:
    """The excess is not known."""
    found = features_of({"loss": inside(10, RIGHT), "acc": RIGHT}, {"label_smoothing": 0.1}).values

    assert found["objective_softmax_classes"] is None
    assert found["objective_loss_last"] == pytest.approx(inside(10, [0.98])[0])


def test_the_pair_with_the_higher_accuracy_counts(features_of: FeaturesOf) -> None:
    """One common step is no pair, and two have no floor."""
    logged = {"loss": inside(10, RIGHT), "acc": RIGHT, "val_loss": [2.0, 1.0, 2.0], "val_acc": [0.3, 0.4, 0.4]}

    assert features_of(logged).values["objective_accuracy_metric"] == "acc"
    assert (
        features_of({"val_loss": [2.0], "val_acc": [0.3], "loss": [2.0] * 40}).values["objective_loss_metric"] is None
    )
    two = features_of({"val_loss": [2.0, 1.0], "val_acc": [0.3, 0.4]}).values
    assert (two["objective_loss_last"], two["objective_softmax_classes"]) == (1.0, None)
    assert features_of({"val_loss": [2.0, 1.0, 1.7], "val_acc": [0.3, 0.4, 0.4]}).values[
        "objective_loss_rise"
    ] == pytest.approx(0.7)


def test_the_fall_of_an_accuracy(features_of: FeaturesOf) -> None:
    """From its highest value to the median of the last third."""
    logged = {"train_loss": [2.3, -1.0, -5.0, -9.0, -20.0, -40.0], "train_acc": [0.5, 0.3, 0.2, 0.1, 0.1, 0.1]}

    assert features_of(logged).values["objective_accuracy_fall"] == pytest.approx(0.8)


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    assert objective.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {}


def test_a_loss_of_pairs_has_no_accuracy_of_tokens(features_of: FeaturesOf) -> None:
    """A preference loss falls to 0 whatever share of the tokens is predicted."""
    logged = {"loss": inside(10, RIGHT), "acc": RIGHT}
    assert features_of(logged).values["objective_loss_metric"] == "loss"
    given = {"training_kind": "preference", "training_kind_probability": 0.95}
    assert features_of(logged, given=given).values.get("objective_loss_metric") is None
