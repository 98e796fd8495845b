"""The name of a number."""

import pytest

from loganalyst.sources.text.lines.numberwords import BAR
from loganalyst.sources.text.metrics.numbernames import named_number


@pytest.mark.parametrize(
    ("before", "after", "name", "plain"),
    [
        ("step 3, Dev_Loss: ", "", "Dev_Loss", "dev loss"),
        ("INFO cost = ", "", "cost", "cost"),
        ("P1291 INFO Train cost: ", "", "Train cost", "train cost"),
        ("[size] ", "", "", ""),  # neither a result nor a position
        ("[loss] ", "", "loss", "loss"),
        ("Epoch #", " loss", "Epoch", "epoch"),
        ("第 ", " 轮", "第", "epoch"),
        ("第 ", " 步", "第", "step"),
        ("Batch (s): ", "", "Batch (s)", "batch (s)"),
        ("we reached in the end a dev accuracy: ", "", "accuracy", "accuracy"),
        ("Accuracy on the test set: ", "", "test Accuracy", "test accuracy"),
        ("my_package.fit:run:", " - loss", "", ""),  # the line of code that printed it
        ("epoch ", BAR, "", ""),  # a bar's percentage
        ("conv", "", "", ""),  # a part of a word
    ],
)
def test_the_name_before_a_number(before: str, after: str, name: str, plain: str) -> None:
    number = named_number(0, before, after)

    assert (number.key, number.plain) == (name, plain)


def test_a_position_carries_the_name_before_it() -> None:
    """A count that a mean is taken over has no name of its own."""
    carried = named_number(0, "Mean cost after epoch ", ": ")
    window = named_number(0, "Mean return over the last ", " episodes: ")

    assert (carried.key, carried.carried) == ("epoch", "Mean cost")
    assert (window.key, window.carried) == ("", "Mean return")
