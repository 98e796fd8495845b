"""A rise that few values show beyond doubt."""

from collections.abc import Callable

import numpy as np
import pytest

from loganalyst.features import clearrise
from loganalyst.features.clearrise import clear_rise
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]
ContextOf = Callable[..., Context]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.593, 1.406, 3.316, 6.437, 5.478, 4.857, 4.874, 4.604], 3.316 / 1.593),
        ([15.5, 13.0, 3.8, 2.39, 1.43, 5.82, 7.05, 10.03], 5.82 / 2.39),
        ([2.0, 1.0, 1.1, 1.2, 1.3], 0.55),
    ],
    ids=["rose", "fell and rose", "scatter"],
)
def test_the_rise_is_that_of_the_smallest_later_value(
    values: list[float], expected: float, features_of: FeaturesOf
) -> None:
    """It is compared with the larger of the lowest value and the one before it."""
    assert features_of({"loss": values}).values["train_loss_clear_rise_ratio"] == pytest.approx(expected)


@pytest.mark.parametrize(
    "values",
    [[3.0, 2.0, 1.0, 4.0, 5.0], [1.0, 4.0, 5.0, 6.0, 7.0], [1.0, -2.0, 4.0, 4.0, 4.0], [1.0, 2.0, 3.0]],
    ids=["two values after the lowest", "the lowest is first", "negative", "too few"],
)
def test_too_few_values_around_the_lowest_show_no_rise(values: list[float]) -> None:
    """One value before the lowest and three after it are needed, and a loss above 0."""
    assert clear_rise(np.array(values)) is None


def test_without_a_training_loss_nothing_is_known(context_of: ContextOf) -> None:
    """Other metrics do not count; NaN between finite values is left out."""
    nan = float("nan")

    assert clearrise.compute(context_of({"other": [1.0, 2.0, 3.0, 4.0, 5.0]})) == {}
    assert clear_rise(np.array([2.0, 1.0, 5.0, 5.0, 6.0])) == (1, 2.5)
    rise, witness = clearrise.compute(context_of({"loss": [2.0, nan, 1.0, 5.0, nan, 5.0, 6.0]}))[
        "train_loss_clear_rise_ratio"
    ]
    assert (rise, witness.step) == (2.5, 2)
