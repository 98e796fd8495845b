"""Features of a loss and the accuracy of the same data: does the loss measure what the accuracy scores?

A cross-entropy over the output of a softmax applies softmax twice. With K classes, the loss is ln K at the start, as it
should be. Certain and correct predictions still cost ln(e + K - 1) - 1, certain and wrong predictions 1 more.
"""

import numpy as np
from numpy.typing import NDArray

from loganalyst.features.chance import DATASET_CLASS_COUNTS, SMALL_CLASS_COUNTS, configured_classes
from loganalyst.features.context import Computed, Context, median, ratio, witness_at
from loganalyst.features.shares import share
from loganalyst.model import Curve, Feature
from loganalyst.thresholds import feature_limit

NEEDS = "accuracy and loss of the same data"
FEATURES = (
    Feature("objective_loss_metric", "text", "", "loss with an accuracy on the same data; of training and held-out data, the pair with the higher accuracy", NEEDS),
    Feature("objective_loss_has_terms", "bool", "", "terms of a loss are logged too, so that this loss may be their sum", NEEDS),
    Feature("objective_loss_last", "float", "loss", "median of the last third of this loss", NEEDS),
    Feature("objective_loss_rise", "float", "loss", "objective_loss_last minus the lowest value", NEEDS),
    Feature("objective_accuracy_metric", "text", "", "the accuracy of this pair", NEEDS),
    Feature("objective_accuracy_last", "float", "share", "median of the last third of this accuracy", NEEDS),
    Feature("objective_accuracy_fall", "float", "share", "fall of this accuracy from its highest value to objective_accuracy_last, as a share of the highest", NEEDS),
    Feature("objective_softmax_classes", "int", "classes", "number of classes K, from the config, from the first training loss, or the K for which a doubled softmax fits best (NULL: labels are smoothed)", NEEDS),
    Feature("objective_softmax_basis", "text", "", "origin of K: config, first loss or fit", NEEDS),
    Feature("objective_softmax_excess", "float", "loss", "loss minus the loss that a doubled softmax over K classes gives at this accuracy if all predictions are certain", NEEDS),
)  # fmt: skip

PAIRS = (("val_loss", "val_accuracy"), ("train_loss", "train_accuracy"))
MIN_COMMON_STEPS = 2  # steps with loss and accuracy
MIN_LEVEL_POINTS = 3  # points for a level that is not chance

Pair = tuple[Curve, Curve, NDArray[np.float64], NDArray[np.float64]]


def compute(context: Context) -> Computed:
    """All of FEATURES; nothing if no loss and accuracy share their steps, or if the loss compares whole answers, so that
    an accuracy of tokens is none of its predictions.
    """
    if context.training_kind is not None and context.training_kind.kind == "preference":
        return {}
    pairs = [pair for roles in PAIRS if (pair := _pair(context, *roles)) is not None]
    if not pairs:
        return {}
    loss, accuracy, x, right = max(pairs, key=lambda pair: median(_last_third(pair[3])))
    last = median(_last_third(x))
    return {
        "objective_loss_metric": (loss.metric, witness_at(loss, len(loss.values) - 1)),
        "objective_loss_has_terms": bool(context.with_role("loss_component", "val_loss_component")),
        "objective_loss_last": last,
        "objective_loss_rise": last - float(x.min()),
        "objective_accuracy_metric": accuracy.metric,
        "objective_accuracy_last": (median(_last_third(right)), witness_at(accuracy, len(accuracy.values) - 1)),
        "objective_accuracy_fall": ratio(float(right.max()) - median(_last_third(right)), float(right.max())),
        **(_double_softmax(context, median(_last_third(x + right)) - 1) if x.size >= MIN_LEVEL_POINTS else {}),
    }


def _pair(context: Context, loss_role: str, accuracy_role: str) -> Pair | None:
    for loss in context.with_role(loss_role)[:1]:
        for accuracy in context.with_role(accuracy_role)[:1]:
            _, at, matching = np.intersect1d(loss.steps, accuracy.steps, return_indices=True)
            x, right = loss.values[at], share(accuracy)[matching]
            known = np.isfinite(x) & np.isfinite(right)
            if np.count_nonzero(known) >= MIN_COMMON_STEPS:
                return loss, accuracy, x[known], right[known]
    return None


def _last_third(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return x[(2 * x.size) // 3 :]


def _double_softmax(context: Context, of_right: float) -> Computed:
    """The features of a doubled softmax; `of_right` is the loss minus the share of errors."""
    if context.number("label_smoothing", "label_smoothing_factor"):
        return {}
    k, basis = _classes(context, of_right)
    return {
        "objective_softmax_classes": k,
        "objective_softmax_basis": basis,
        "objective_softmax_excess": of_right - _double_softmax_floor(k),
    }


def _classes(context: Context, of_right: float) -> tuple[int, str]:
    """The number of classes, and where it comes from."""
    if configured := configured_classes(context):
        return max(configured), "config"
    first = next((float(curve.values[0]) for curve in context.with_role("train_loss")), 0.0)
    start_classes = round(np.exp(first)) if 0 < first < np.log(2 * max(DATASET_CLASS_COUNTS)) else 0
    if (
        start_classes >= 2
        and abs(first / np.log(start_classes) - 1) < feature_limit("first_loss_at_chance")
        and abs(of_right - _double_softmax_floor(start_classes)) < feature_limit("loss_of_right_at_floor")
    ):
        return start_classes, "first loss"
    return min(
        (*SMALL_CLASS_COUNTS, *DATASET_CLASS_COUNTS), key=lambda k: abs(of_right - _double_softmax_floor(k))
    ), "fit"


def _double_softmax_floor(classes: int) -> float:
    """The loss of a doubled softmax over certain and correct predictions."""
    return float(np.log(np.e + classes - 1)) - 1
