"""Which numbers can be values, and what their units say."""

import pytest

from loganalyst.sources.text.metrics.numberslots import name_percentages, numbers_of


def names(shape: str) -> list[tuple[int, str]]:
    """Index and name of each number; `#` is a number."""
    texts = shape.split("#")
    numbers = numbers_of(texts)
    name_percentages(numbers, texts)
    return [(n.index, n.plain) for n in numbers]


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("cost: #, lr: #", [(0, "cost"), (1, "lr")]),
        ("iter: #s", [(0, "iter time")]),
        ("cost: # # img/s", [(0, "cost"), (1, "img/s")]),
        ("cost: #abc", []),
        ("# | loss: #", [(0, "["), (1, "loss")]),
        ("[#] loss: #", [(0, "["), (1, "loss")]),
        ("# train loss #", [(0, "["), (1, "train loss")]),
        ("# of the users, loss #", [(0, ""), (1, "loss")]),
        ("train=#% test=#%", [(0, "train accuracy"), (1, "test accuracy")]),
        ("Validation: #%", [(0, "validation")]),
    ],
)
def test_numbers_and_names(shape: str, expected: list[tuple[int, str]]) -> None:
    assert names(shape) == expected
