"""Whether the losses of batches scatter by more than their level."""

from collections.abc import Callable

import numpy as np
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


@pytest.mark.parametrize(("scale", "metric"), [(1.0, "train_acc"), (100.0, "train/accuracy")])
def test_batches_of_one_kind(context_of: Callable[..., Context], scale: float, metric: str) -> None:
    """Accuracies 0 and 1 in turn have half the square of their distance as variance; random halves have 1/4 per sample.

    A level of 11 values is 5/11 or 6/11, with a variance of 30/121 per sample.
    """
    found = batchscatter.compute(context_of({metric: [0.0, scale] * 30}, {"batch_size": 32}))

    swing, excess = found["batch_accuracy_swing"], found["batch_accuracy_excess"]
    assert isinstance(swing, tuple)
    assert isinstance(excess, tuple)
    assert swing[0] == pytest.approx(0.5**0.5)
    assert excess[0] == pytest.approx(0.5 / (30 / 121 / 32))


def test_random_batches_have_no_excess(context_of: Callable[..., Context]) -> None:
    """Draws of 32 samples of which seven in ten are right; without a batch size the excess is not known."""
    right = np.random.default_rng(5).binomial(32, 0.7, 2000) / 32
    found = batchscatter.compute(context_of({"train_acc": right.tolist()}, {"batch_size": 32}))
    unknown = batchscatter.compute(context_of({"train_acc": right.tolist()}))

    assert isinstance(found["batch_accuracy_excess"], tuple)
    assert found["batch_accuracy_excess"][0] == pytest.approx(1.0, abs=0.1)
    assert isinstance(unknown["batch_accuracy_excess"], tuple)
    assert unknown["batch_accuracy_excess"][0] is None


def test_few_batches_are_not_judged(context_of: Callable[..., Context]) -> None:
    assert set(batchscatter.compute(context_of({"train_acc": [0.0, 1.0] * 10}))) == {"batches_scatter"}


def test_the_curve_that_scatters_least_counts(context_of: Callable[..., Context]) -> None:
    """A curve with values of several data sets by turns says nothing of batches."""
    curves = {"top1": [0.3, 0.99] * 30, "train_acc": np.linspace(0.3, 0.9, 60).tolist()}
    found = batchscatter.compute(context_of(curves, {"batch_size": 32}))["batch_accuracy_swing"]

    assert isinstance(found, tuple)
    assert found[0] == pytest.approx(0.6 / 59 / 2**0.5)
