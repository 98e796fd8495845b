"""Features of several held-out accuracies."""

from collections.abc import Callable

import numpy as np
import pytest

from loganalyst.features import forgetting
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]
UP = np.linspace(0.1, 0.9, 10)


def test_an_accuracy_lost_for_another(features_of: FeaturesOf) -> None:
    """Task a is learned and then lost while task b is learned."""
    a, b = [*UP, *UP[::-1]], [*[0.1] * 10, *UP]
    row = features_of({"val/acc_a": a, "val/acc_b": b}).values

    assert (row["forgotten_metric"], row["forgotten_for_metric"]) == ("val/acc_a", "val/acc_b")
    assert row["forgotten_share"] == pytest.approx(0.8, abs=0.15)
    assert row["forgotten_step"] in {9, 10}
    assert row["forgotten_for_gain"] == pytest.approx(0.75, abs=0.1)
    assert row["forgotten_gained"] == pytest.approx(0.8)


def test_an_accuracy_that_was_best_at_first_had_gained_nothing(features_of: FeaturesOf) -> None:
    """It falls from its first value on."""
    row = features_of({"val/acc_a": [*UP[::-1]], "val/acc_b": [*UP]}).values

    assert (row["forgotten_metric"], row["forgotten_gained"]) == ("val/acc_a", 0.0)


def test_accuracies_of_tasks_need_not_say_that_they_are_held_out(features_of: FeaturesOf) -> None:
    """Without two held-out accuracies, those of training count."""
    row = features_of({"acc_task_a": [*UP, *UP[::-1]], "acc_task_b": [*[0.1] * 10, *UP]}).values

    assert (row["forgotten_metric"], row["forgotten_for_metric"]) == ("acc_task_a", "acc_task_b")


def test_a_single_accuracy_has_no_rival(features_of: FeaturesOf) -> None:
    """With one accuracy the share is not known; if all rise it is 0."""
    assert features_of({"val/acc": [*UP, *UP[::-1]]}).values["forgotten_share"] is None
    assert features_of({"val/acc_a": [*UP], "val/acc_b": [*UP]}).values["forgotten_share"] == pytest.approx(0, abs=0.01)


def test_a_loss_that_rose_while_another_fell(features_of: FeaturesOf) -> None:
    """The old texts are forgotten; the held-out loss is that of the new ones."""
    old, new = np.linspace(2.0, 4.0, 10), np.linspace(5.0, 2.5, 10)
    logged = {"loss": np.linspace(5.0, 2.0, 10), "val_loss": old, "test_loss": new}
    row = features_of({name: [*values] for name, values in logged.items()}).values

    assert (row["forgotten_loss_metric"], row["forgotten_loss_for_metric"]) == ("val_loss", "test_loss")
    assert row["forgotten_loss_rise"] == pytest.approx(1.9, abs=0.15)
    assert row["forgotten_loss_step"] == 0
    assert row["forgotten_loss_for_fall"] == pytest.approx(0.45, abs=0.06)


def test_a_loss_of_the_training_data_is_no_other_set(features_of: FeaturesOf) -> None:
    """A training loss that falls while the held-out loss rises is overfitting."""
    logged = {"eval_train_loss": np.linspace(5.0, 2.5, 10), "test_loss": np.linspace(2.0, 4.0, 10)}
    row = features_of({name: [*values] for name, values in logged.items()}).values

    assert row["forgotten_loss_for_fall"] in {None, 0.0}


def test_another_measure_of_the_same_set_is_no_other_set(features_of: FeaturesOf) -> None:
    """A mean squared error rises by a few samples while its root falls in the mean of batches."""
    train, rising, falling = np.linspace(5.0, 2.0, 10), np.linspace(2.0, 4.0, 10), np.linspace(5.0, 2.5, 10)
    measures = features_of({"loss": [*train], "val_loss": [*rising], "val_RMSE": [*falling]}).values

    assert (measures["forgotten_loss_metric"], measures["forgotten_loss_for_fall"]) == ("val_loss", 0.0)


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    assert forgetting.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {}
