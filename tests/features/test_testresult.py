"""Features of a single test behind the training."""

from collections.abc import Callable

import pytest

from loganalyst.model import Features

FeaturesOf = Callable[..., Features]
HELD_OUT = [2.0, 1.0, 0.5, 0.25, 0.2, 0.2]
RIGHT = [0.2, 0.5, 0.7, 0.8, 0.9, 0.9]


def test_a_test_loss_is_compared_with_the_last_held_out_level(features_of: FeaturesOf) -> None:
    """As a ratio, and as a share of where the losses began."""
    row = features_of({"train_loss": HELD_OUT, "val_loss": HELD_OUT, "test_loss": [1.2]}).values

    assert row["test_loss_metric"] == "test_loss"
    assert row["test_over_held_out"] == pytest.approx(6.0)
    assert row["test_beyond_held_out"] == pytest.approx(1.0)


def test_a_test_accuracy_is_compared_with_the_last_held_out_one(features_of: FeaturesOf) -> None:
    row = features_of({"val_acc": RIGHT, "test_acc": [0.4]}).values

    assert (row["test_accuracy_metric"], row["test_accuracy_behind"]) == ("test_acc", pytest.approx(0.5))


@pytest.mark.parametrize(
    "curves",
    [
        {"val_loss": HELD_OUT, "test_loss": HELD_OUT},  # a course of its own
        {"val_loss": HELD_OUT[:3], "test_loss": [1.2]},  # too few held-out values
        {"val_loss": HELD_OUT},
    ],
)
def test_nothing_is_known_without_a_single_test_and_a_course(
    features_of: FeaturesOf, curves: dict[str, list[float]]
) -> None:
    """Other held-out curves are compared elsewhere."""
    assert features_of(curves).values["test_over_held_out"] is None
