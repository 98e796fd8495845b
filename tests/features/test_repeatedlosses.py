"""A loss that repeats itself digit for digit."""

from collections.abc import Callable

import numpy as np
import pytest

from loganalyst.features import repeatedlosses
from loganalyst.features.context import Context
from loganalyst.features.repeatedlosses import repeat_period
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]
ContextOf = Callable[..., Context]
PASS = [0.9741, 1.3742, 1.2390, 0.9670, 1.0386, 1.1681, 1.2240, 0.9610]


def test_the_losses_of_the_first_pass_come_again(features_of: FeaturesOf) -> None:
    """Eight values, eighteen times; the last pass may be cut off."""
    whole = features_of({"loss": PASS * 18}).values
    cut_off = features_of({"loss": PASS * 3 + PASS[:3]}).values

    assert (whole["train_loss_repeat_period"], whole["train_loss_repeat_count"]) == (8, 18)
    assert (cut_off["train_loss_repeat_period"], cut_off["train_loss_repeat_count"]) == (8, 3)


@pytest.mark.parametrize(
    "values",
    [
        PASS * 2,
        [0.7] * 60,
        [0.7, 0.8] * 30,
        [3.0, 2.0, 1.5, 1.2, 1.1, 1.05] * 3,
        [*PASS * 4, 0.9],
        [*PASS * 2, *PASS[:7], float("nan")],
    ],
    ids=["twice", "one value", "two values", "falls in each", "another value at the end", "NaN"],
)
def test_other_repetitions_show_nothing(values: list[float]) -> None:
    """Fewer than three passes, rounded values, runs that were started again, and a loss that is not the same."""
    assert repeat_period(np.array(values)) == 0


def test_a_loss_that_does_not_repeat_counts_no_pass(context_of: ContextOf) -> None:
    """Noise never repeats; without a training loss nothing is known."""
    noise = np.random.default_rng(0).normal(1, 0.1, 200).tolist()

    assert repeatedlosses.compute(context_of({"loss": noise})) == {"train_loss_repeat_count": 0}
    assert repeatedlosses.compute(context_of({"other": PASS * 4})) == {}
