"""Whether batches differ: losses that scatter by more than their level, and accuracies beyond those of random samples."""

import numpy as np

from loganalyst.features.context import Computed, Context, Value, ratio, witness_at
from loganalyst.features.setup import configured_batch
from loganalyst.features.shares import as_shares
from loganalyst.model import Curve, Feature
from loganalyst.thresholds import feature_limit

ROLE = "train_accuracy"
FEATURES = (
    Feature("batches_scatter", "bool", "", "the noise of the training loss exceeds its last level, as where most batches are fitted and a few are not (false also without a training loss)", "run"),
    Feature("batch_accuracy_swing", "float", "share", "noise of the training accuracy from one value to the next", ROLE),
    Feature("batch_accuracy_excess", "float", "ratio", "variance of the training accuracy from one value to the next, divided by that of a random batch of the configured size (1: batches are random; as large as the batch: all its samples are alike)", ROLE),
)  # fmt: skip
MIN_BATCHES = 30
LEVEL_BATCHES = 11  # values whose mean is the accuracy at that time


def compute(context: Context) -> Computed:
    """All of FEATURES."""
    return {"batches_scatter": _scatters(context)} | _accuracies(context)


def _scatters(context: Context) -> Value:
    """Whether the training loss scatters by more than its level."""
    for curve in context.with_role("train_loss")[:1]:
        shape = context.shape(curve)
        share = ratio(shape.noise, abs(shape.last) if shape.last is not None else None)
        return share is not None and share > feature_limit("batches_scatter"), witness_at(curve)
    return False


def _accuracies(context: Context) -> Computed:
    """The scatter of the training accuracy, and what a random batch would have (a binomial variance).

    Of several curves the one that scatters least counts: another may hold values of several data sets by turns.
    """
    found = [pair for curve in context.with_role(ROLE) if (pair := _scatter(context, curve))]
    return min(found, key=lambda pair: pair[0])[1] if found else {}


def _scatter(context: Context, curve: Curve) -> tuple[float, Computed] | None:
    """The variance of a curve from one value to the next, and its features. None for too few values."""
    x = curve.values[np.isfinite(curve.values)]
    if x.size < MIN_BATCHES or x.min() < 0:
        return None
    x = as_shares(x)
    variance = float(np.mean(np.diff(x) ** 2)) / 2
    level = np.convolve(x, np.full(LEVEL_BATCHES, 1 / LEVEL_BATCHES), mode="valid")
    random = ratio(float(np.mean(level * (1 - level))), configured_batch(context))
    return variance, {
        "batch_accuracy_swing": (variance**0.5, witness_at(curve)),
        "batch_accuracy_excess": (ratio(variance, random), witness_at(curve)),
    }
