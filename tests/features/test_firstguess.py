"""Features of the training loss beside the training accuracy."""

from collections.abc import Callable

import pytest

from loganalyst.model import Features

FeaturesOf = Callable[..., Features]
RIGHT = [0.25, 0.25, 0.25, 0.4, 0.5, 0.5, 0.5]


def test_a_loss_is_compared_with_that_of_guesses_which_are_right_so_often(features_of: FeaturesOf) -> None:
    """At both ends."""
    row = features_of({"train_loss": [8.0, 8.0, 8.0, 4.0, 1.4, 1.4, 1.4], "train_acc": RIGHT}).values

    assert row["first_loss_over_guess"] == pytest.approx(5.77, abs=0.01)
    assert row["last_loss_over_guess"] == pytest.approx(2.02, abs=0.01)
    assert row["last_loss_over_first_guess"] == pytest.approx(1.01, abs=0.01)


@pytest.mark.parametrize(
    "curves",
    [
        {"train_loss": [8.0] * 7},
        {"train_loss": [8.0] * 7, "train_acc": [0.9] * 7},  # a high accuracy is no guess
        {"train_loss": [-8.0] * 7, "train_acc": RIGHT},  # no likelihood
    ],
)
def test_nothing_is_known_otherwise(features_of: FeaturesOf, curves: dict[str, list[float]]) -> None:
    """Not without an accuracy, nor for losses that are no likelihood."""
    assert features_of(curves).values["first_loss_over_guess"] is None
