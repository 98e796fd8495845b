"""Features of held-out accuracies and scores, compared with those of training."""

import numpy as np

from loganalyst import signals
from loganalyst.curves.metricnames import is_unbounded, normalise
from loganalyst.curves.rolefile import role_file
from loganalyst.features.beginning import unless_late
from loganalyst.features.context import Computed, Context, Value, first_level, last_level, ratio, witness_at
from loganalyst.features.judgedscores import scores
from loganalyst.features.shares import as_shares, of_tokens, share
from loganalyst.model import Curve, Feature
from loganalyst.signals.standarderror import since_z, whole_z
from loganalyst.thresholds import feature_limit

FEATURES = (
    Feature("val_score_metric", "text", "", "held-out accuracy or score that looks worst", "val_accuracy"),
    Feature("val_score_name", "text", "", "name of this metric; `1 - wer` for an error rate, which is reported as 1 minus the rate", "val_accuracy"),
    Feature("val_score_points", "int", "points", "logged values of the held-out score", "val_accuracy"),
    Feature("val_score_first", "float", "score", "first value of the held-out score", "val_accuracy"),
    Feature("val_score_begins_good", "bool", "", "the held-out score is high at its first value, so the model had learned before (false: no score is logged; NULL: its best value is neither 1 nor 100)", "points"),
    Feature("val_score_last", "float", "score", "last value of the held-out score", "val_accuracy"),
    Feature("val_accuracy_last", "float", "share", "last held-out accuracy as a share; only if the score is an accuracy", "val_accuracy"),
    Feature("val_score_best", "float", "score", "highest value of the held-out score", "val_accuracy"),
    Feature("val_score_best_step", "int", "step", "step at which the held-out score was highest", "val_accuracy"),
    Feature("val_score_loss_from_best", "float", "share", "fall from the highest to the last value as a share of the highest", "val_accuracy"),
    Feature("val_score_gain_z", "float", "standard errors", "gain from the first tenth to the last third of the held-out score, in standard errors", "val_accuracy"),
    Feature("val_score_rose", "bool", "", "val_score_gain_z is above 3, and enough values are logged to know it", "val_accuracy"),
    Feature("val_score_fall_z", "float", "standard errors", "change of the held-out score from the twentieth around its highest level to the last tenth, in standard errors (negative = fell)", "val_accuracy"),
    Feature("val_score_gain", "float", "score", "last value minus first value", "val_accuracy"),
    Feature("val_score_late_gain_share", "float", "share", "gain over the last third as a share of the gain of the whole run (1: all of it, or more)", "val_accuracy"),
    Feature("val_score_still_share", "float", "share", "share of the values that form an unbroken run at the end, all equal to the last", "val_accuracy"),
    Feature("val_score_same_share", "float", "share", "share of the values that are equal to the last", "val_accuracy"),
    Feature("val_score_quantum", "float", "score", "smallest step between the rounded values of the held-out score (0: full precision)", "val_accuracy"),
    Feature("val_score_constant", "bool", "", "three or more values, all equal", "val_accuracy"),
    Feature("train_accuracy_last", "float", "score", "last level of the training accuracy (NULL for the share of right tokens, which has no common level)", "train_accuracy"),
    Feature("accuracy_errors_left", "float", "share", "last error share (1 − accuracy) divided by the first, of the training accuracy, or of the held-out accuracy where that is not logged", "train_accuracy"),
    Feature("accuracy_gap", "float", "score", "training accuracy minus held-out accuracy at the end", "val_accuracy"),
)  # fmt: skip


def compute(context: Context) -> Computed:
    """All of FEATURES; a group without its metric is left out."""
    train = next(iter(context.with_role("train_accuracy")), None)
    train_accuracy = last_level(share(train)) if train else None
    held_out = scores(context)
    of_training = {
        "train_accuracy_last": None if train is None or of_tokens(train) else train_accuracy,
        "accuracy_errors_left": _errors_left(context),
    }
    if not held_out:
        return {**of_training, "val_score_begins_good": False}
    last = float(share(held_out[0])[np.isfinite(held_out[0].values)][-1])
    accuracy = held_out[0].role.name == "val_accuracy"
    return {
        **of_training,
        "accuracy_gap": _gap(train, held_out[0]) if accuracy else None,
        "val_accuracy_last": last if accuracy else None,
        **_score(held_out[0]),
    }


def _gap(train: Curve | None, held_out: Curve) -> float | None:
    """Training accuracy minus held-out accuracy at the end; None where each name has words of its own, which say that
    they measure different things: `train/retrieval_acc` and `val/knn_acc`.
    """
    level = last_level(share(train)) if train else None
    if train is None or level is None:
        return None
    words = role_file().words
    plain = words["val"] | words["aggregate"] | words["plain_accuracy"]
    own = [{w for w in normalise(c.metric).split("_") if not w.isdigit()} - plain for c in (train, held_out)]
    if own[0] - own[1] and own[1] - own[0]:
        return None
    return level - float(share(held_out)[np.isfinite(held_out.values)][-1])


def _errors_left(context: Context) -> Value:
    for curve in (context.with_role("train_accuracy") or context.with_role("val_accuracy"))[:1]:
        first, last = first_level(1 - share(curve)), last_level(1 - share(curve))
        return ratio(last, first), witness_at(curve)
    return None


def _score(curve: Curve) -> Computed:
    """The features of a held-out accuracy or score with at least one finite value."""
    finite = np.flatnonzero(np.isfinite(curve.values))
    x = share(curve)[finite]
    best = witness_at(curve, int(finite[np.argmax(x)]))
    gain, gain_z = float(x[-1] - x[0]), whole_z(x)
    late = ratio(float(x[-1] - x[(2 * len(x)) // 3 - 1]), gain) if len(x) >= 3 else None
    return {
        "val_score_metric": curve.metric,
        "val_score_name": f"1 - {curve.metric}" if curve.role.name == "val_error_rate" else curve.metric,
        "val_score_points": len(x),
        "val_score_first": float(x[0]),
        "val_score_begins_good": _begins_good(curve),
        "val_score_last": float(x[-1]),
        "val_score_best": (float(x.max()), best),
        "val_score_best_step": (best.step, best),
        "val_score_loss_from_best": (ratio(float(x.max() - x[-1]), abs(float(x.max()))), best),
        "val_score_fall_z": (since_z(share(curve), int(finite[np.argmax(x)])), best),
        **unless_late(curve, {"val_score_gain": gain, "val_score_gain_z": gain_z}),
        "val_score_rose": gain_z is not None and gain_z > feature_limit("significant_gain"),
        "val_score_late_gain_share": None if late is None else min(late, 1.0),
        "val_score_still_share": float(np.logical_and.accumulate(x[::-1] == x[-1]).mean()),
        "val_score_same_share": float((x == x[-1]).mean()),
        "val_score_quantum": signals.quantum(x),
        "val_score_constant": bool(len(x) >= 3 and (x == x[0]).all()),
    }


def _begins_good(curve: Curve) -> bool | None:
    """Whether the first finite value is high; None for a score whose best value is neither 1 nor 100."""
    values = curve.values[np.isfinite(curve.values)]
    highest_share = 100 * feature_limit("share_highest")
    if is_unbounded(curve.metric) or values.max() > highest_share:
        return None
    shares = share(curve) if curve.role.name != "val_score" else as_shares(curve.values)
    return bool(shares[np.isfinite(shares)][0] > feature_limit("score_begins_good"))
