"""Features of a loss beside the accuracy of the same data: does the one measure what the other scores?

A cross-entropy that is given shares, which a softmax made already, takes them for scores. Before anything is learned it is
ln K for K classes, as it should be; sure and right it is no less than ln(e + K - 1) - 1, sure and wrong one more.
"""

import numpy as np
from numpy.typing import NDArray

from loganalyst.features.chance import DATASET_CLASS_COUNTS, SMALL_CLASS_COUNTS, configured_classes
from loganalyst.features.context import Computed, Context, median, witness_at
from loganalyst.features.validation import share
from loganalyst.model import Curve, Feature
from loganalyst.thresholds import feature_limit

NEEDS = "accuracy and loss of the same data"
FEATURES = (
    Feature("objective_loss_metric", "text", "", "loss with an accuracy on the same data; of training and held-out data, the pair with the higher accuracy", NEEDS),
    Feature("objective_loss_last", "float", "loss", "median of the last third of this loss", NEEDS),
    Feature("objective_loss_rise", "float", "loss", "objective_loss_last minus the lowest value", NEEDS),
    Feature("objective_accuracy_metric", "text", "", "the accuracy of this pair", NEEDS),
    Feature("objective_accuracy_last", "float", "share", "median of the last third of this accuracy", NEEDS),
    Feature("objective_softmax_classes", "int", "classes", "number of classes K, from the config, from the first training loss, or the K for which a doubled softmax fits best (NULL: labels are smoothed)", NEEDS),
    Feature("objective_softmax_basis", "text", "", "origin of K: config, first loss or fit", NEEDS),
    Feature("objective_softmax_excess", "float", "loss", "loss minus the loss that a doubled softmax over K classes gives at this accuracy if all predictions are certain", NEEDS),
)  # fmt: skip

PAIRS = (("val_loss", "val_accuracy"), ("train_loss", "train_accuracy"))
FEWEST = 2  # steps with both
ENOUGH = 3  # for a level that is no chance

Pair = tuple[Curve, Curve, NDArray[np.float64], NDArray[np.float64]]


def compute(context: Context) -> Computed:
    """All of FEATURES; nothing where no loss and accuracy share their steps."""
    pairs = [pair for roles in PAIRS if (pair := _pair(context, *roles)) is not None]
    if not pairs:
        return {}
    loss, accuracy, x, right = max(pairs, key=lambda pair: median(_late(pair[3])))
    last = median(_late(x))
    return {
        "objective_loss_metric": (loss.metric, witness_at(loss, len(loss.values) - 1)),
        "objective_loss_last": last,
        "objective_loss_rise": last - float(x.min()),
        "objective_accuracy_metric": accuracy.metric,
        "objective_accuracy_last": (median(_late(right)), witness_at(accuracy, len(accuracy.values) - 1)),
        **(_softmax(context, median(_late(x + right)) - 1) if x.size >= ENOUGH else {}),
    }


def _pair(context: Context, loss_role: str, accuracy_role: str) -> Pair | None:
    for loss in context.with_role(loss_role)[:1]:
        for accuracy in context.with_role(accuracy_role)[:1]:
            _, at, beside = np.intersect1d(loss.steps, accuracy.steps, return_indices=True)
            x, right = loss.values[at], share(accuracy)[beside]
            known = np.isfinite(x) & np.isfinite(right)
            if np.count_nonzero(known) >= FEWEST:
                return loss, accuracy, x[known], right[known]
    return None


def _late(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return x[(2 * x.size) // 3 :]


def _softmax(context: Context, of_right: float) -> Computed:
    """`of_right`: the loss without the share of errors."""
    if context.number("label_smoothing", "label_smoothing_factor"):
        return {}
    k, basis = _classes(context, of_right)
    return {
        "objective_softmax_classes": k,
        "objective_softmax_basis": basis,
        "objective_softmax_excess": of_right - _floor(k),
    }


def _classes(context: Context, of_right: float) -> tuple[int, str]:
    if configured := configured_classes(context):
        return max(configured), "config"
    first = next((float(curve.values[0]) for curve in context.with_role("train_loss")), 0.0)
    begun = round(np.exp(first)) if 0 < first < np.log(2 * max(DATASET_CLASS_COUNTS)) else 0
    if (
        begun >= 2
        and abs(first / np.log(begun) - 1) < feature_limit("first_loss_at_chance")
        and abs(of_right - _floor(begun)) < feature_limit("loss_of_right_at_floor")
    ):
        return begun, "first loss"
    return min((*SMALL_CLASS_COUNTS, *DATASET_CLASS_COUNTS), key=lambda k: abs(of_right - _floor(k))), "fit"


def _floor(classes: int) -> float:
    return float(np.log(np.e + classes - 1)) - 1
