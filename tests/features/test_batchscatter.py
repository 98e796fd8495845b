"""Whether the losses of batches scatter by more than their level."""

from collections.abc import Callable

import pytest

from loganalyst.features import batchscatter
from loganalyst.features.context import Context


@pytest.mark.parametrize(
    ("losses", "scatters"),
    [
        ([0.001, 0.5, 0.002, 0.8, 0.001, 0.6, 0.003, 0.001] * 10, True),
        ([1.0, 1.1, 0.9, 1.05] * 20, False),
    ],
)
def test_the_noise_and_the_level(losses: list[float], scatters: bool, context_of: Callable[..., Context]) -> None:
    found = batchscatter.compute(context_of({"loss": losses}))["batches_scatter"]
    assert isinstance(found, tuple)
    assert found[0] is scatters


def test_without_a_training_loss(context_of: Callable[..., Context]) -> None:
    assert batchscatter.compute(context_of({"other": [1.0, 2.0]})) == {"batches_scatter": False}
