"""Numbers that are printed as a part of a total."""

import pytest

from loganalyst.sources.text.metrics.countshares import mark_fractions
from loganalyst.sources.text.metrics.numberslots import numbers_of


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("iter #/# cost: #", [(0, "iter", None), (1, "", "total"), (2, "cost", None)]),
        ("step/total_step: #/#", [(0, "step", None), (1, "", "total")]),
        ("accuracy: #/# (#%)", [(2, "accuracy", None), (1, "", None), (2, "", None)]),  # the percentage
    ],
)
def test_totals(shape: str, expected: list[tuple[int, str, str | None]]) -> None:
    texts = shape.split("#")
    numbers = numbers_of(texts)
    mark_fractions(numbers, texts)

    assert [(n.index, n.plain, n.role) for n in numbers] == expected


def test_without_a_percentage_a_result_is_the_share() -> None:
    texts = ["Correct: ", "/", ""]
    numbers = numbers_of(texts)
    mark_fractions(numbers, texts)

    assert (numbers[0].index, numbers[0].over) == (0, 1)
