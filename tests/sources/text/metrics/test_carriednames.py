"""Names before a position that belong to the number behind it."""

import pytest

from loganalyst.sources.text.metrics.carriednames import carry_names
from loganalyst.sources.text.metrics.numberslots import numbers_of


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("Cost after epoch #: #", ["epoch", "Cost"]),
        ("Cost over # batches, epoch #: #", ["", "epoch", "Cost"]),
        ("Dev loss #: #", ["", "Dev loss"]),
        ("Loss # : # words/s", ["Loss", ""]),
        ("Evaluation over # episodes: #", ["", "Evaluation (episodes)"]),
        ("Accuracy on the # test images: #", ["", "test Accuracy"]),
    ],
)
def test_the_name_goes_to_the_value(shape: str, expected: list[str]) -> None:
    texts = shape.split("#")
    numbers = numbers_of(texts)
    carry_names(numbers, texts)

    assert [n.key for n in numbers] == expected
