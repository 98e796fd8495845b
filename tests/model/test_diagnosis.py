"""The order of onsets."""

import pytest

from loganalyst.model import Onset


def onset(low: float, high: float) -> Onset:
    return Onset("loss", "train_loss", "divergence", 0, int(low), low, high, int(low))


@pytest.mark.parametrize(
    ("first", "second", "p"),
    [
        ((0, 10), (0, 10), 0.5),  # the same interval
        ((0, 10), (20, 30), 0.99),  # apart: at most 0.99
        ((20, 30), (0, 10), 0.01),
        ((0, 10), (5, 15), 0.875),  # they overlap by half: 1 - 0.5 * 0.5 * 0.5
        ((4, 4), (0, 10), 0.6),  # a step is one step wide
    ],
)
def test_the_probability_of_an_order(first: tuple[float, float], second: tuple[float, float], p: float) -> None:
    """Both are uniformly distributed in their intervals."""
    assert onset(*first).before(onset(*second)) == pytest.approx(p)
