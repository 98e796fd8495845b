"""A gradient norm that rises in a straight line, or is largest at its start."""

from collections.abc import Callable

import numpy as np
import pytest

from loganalyst.model import Features

FeaturesOf = Callable[..., Features]


def test_a_sum_of_gradients_rises_in_a_straight_line(features_of: FeaturesOf) -> None:
    """The correlation is 1 of a line upwards, -1 of one downwards, and far below 1 of what levels off or shoots up."""
    steps = np.arange(200.0)
    level, shot = 1 - np.exp(-steps / 20), np.exp(steps / 20)
    curves = {"up": 1 + steps, "down": 300 - steps, "levels off": level, "shoots up": shot}
    found = {name: features_of({"grad_norm": x.tolist()}).values["grad_norm_straight"] for name, x in curves.items()}

    assert (found["up"], found["down"]) == pytest.approx((1.0, -1.0))
    assert found["levels off"] == pytest.approx(np.corrcoef(steps, level)[0, 1])
    assert found["shoots up"] == pytest.approx(np.corrcoef(steps, shot)[0, 1])


@pytest.mark.parametrize("values", [[2.0] * 200, np.arange(19.0).tolist(), [float("nan")] * 200])
def test_a_constant_or_a_few_values_are_no_line(features_of: FeaturesOf, values: list[float]) -> None:
    """Nothing is told of a norm that never changes, of fewer than twenty values, or of none that is finite."""
    assert features_of({"grad_norm": values}).values["grad_norm_straight"] is None


@pytest.mark.parametrize(
    ("norms", "share"), [([50.0, 100.0, 20.0, 2.0], 1.0), ([5.0, 4.0, 2.0, 20.0], 0.25), ([0.0, 0.0], None)]
)
def test_the_first_norms_against_the_largest(features_of: FeaturesOf, norms: list[float], share: float | None) -> None:
    """Of norms that are all 0 no share is known."""
    assert features_of({"grad_norm": norms}).values["grad_norm_start_share"] == share
