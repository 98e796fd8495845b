"""Features of held-out losses, accuracies and scores, compared with training."""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from loganalyst import signals
from loganalyst.curves.heldoutsets import bare_name, is_sum
from loganalyst.curves.rolefile import role_file
from loganalyst.curves.roles import is_unbounded, measure, normalise
from loganalyst.features.beginning import unless_late
from loganalyst.features.context import (
    Computed,
    Context,
    Value,
    event,
    event_features,
    first_level,
    last_level,
    lowest_index,
    minus,
    ratio,
    tau,
    witness_at,
)
from loganalyst.features.separateresults import shows_no_course
from loganalyst.model import Curve, Feature
from loganalyst.signals import Gap
from loganalyst.signals.standarderror import since_z, whole_z
from loganalyst.thresholds import feature_limit

LOSSES = ("val_loss", "val_loss_component")
OF_LANGUAGE = ("fine-tuning", "pretraining", "preference")  # kinds of training that are often evaluated on several sets
MIN_TREND_POINTS = 6
MIN_LEVEL_VALUES = 30  # fewer values are stated as logged, for a level of them may be none of them
MIN_HALF_POINTS = 4  # so that the middle and the end are different values
# precision or recall, but not "average_precision" (area under the curve)
_ONE_SIDED = re.compile(r"(?<!average_)(?<!avg_)(precision|recall)")

FEATURES = (
    Feature("val_loss_metric", "text", "", "held-out loss that looks worst", "val_loss"),
    Feature("val_loss_is_total", "bool", "", "it is a whole held-out loss or the sum of its terms, not one term", "val_loss"),
    Feature("val_loss_is_sum", "bool", "", "it is the sum of the logged held-out terms, whose scale may differ from that of the training terms", "val_loss"),
    Feature("val_loss_points", "int", "points", "logged values of the held-out loss", "val_loss"),
    Feature("val_loss_last", "float", "loss", "last value of the held-out loss", "val_loss"),
    Feature("val_loss_best", "float", "loss", "lowest logged value of the held-out loss", "val_loss"),
    Feature("val_loss_best_step", "int", "step", "step of the lowest logged value of the held-out loss", "val_loss"),
    Feature("val_loss_best_share", "float", "share", "position in the run at which the smoothed held-out loss was lowest (0 = start, 1 = end)", "val_loss"),
    Feature("val_loss_later_rise", "float", "share", "how far the lowest value after the first one is above the first, as a share of it (below 0: below it; positive losses only)", "val_loss"),
    Feature("val_loss_points_after_best", "int", "points", "values logged after the smoothed held-out loss was lowest", "val_loss"),
    Feature("val_loss_rise_ratio", "float", "ratio", "last level divided by lowest level (positive losses only)", "val_loss"),
    Feature("val_loss_rise_z", "float", "standard errors", "change of the held-out loss from the twentieth around its lowest level to the last tenth, in standard errors", "val_loss"),
    Feature("val_loss_drop_z", "float", "standard errors", "fall from the first tenth to the last third of the held-out loss, in standard errors", "val_loss"),
    Feature("val_loss_rise_noise", "float", "noise", "last level minus lowest level, in units of the noise", "val_loss"),
    Feature("val_loss_drop_relative", "float", "share", "fall of the held-out loss relative to its first level", "val_loss"),
    Feature("val_loss_half_drop_relative", "float", "share", "fall of the held-out loss over the second half of its points, relative to the level in the middle", "val_loss"),
    Feature("val_loss_alone", "bool", "", "no training loss is logged with it", "val_loss"),
    Feature("val_score_at_best", "bool", "", "a held-out score with at least four values is logged too; it gained and ended within half a percent of its best", "val_loss"),
    Feature("val_loss_trend", "float", "", "Kendall's tau of the second half of the held-out loss against time (-1 = each value is lower than all before)", "val_loss"),
    *event_features("val_loss_nonfinite", "run of NaN or infinite held-out losses", "val_loss"),
    Feature("val_loss_nonfinite_metric", "text", "", "first held-out loss that ends NaN or infinite", "val_loss"),
    Feature("val_loss_never_finite_metric", "text", "", "held-out loss that was never finite: infinite, or logged at least twice", "val_loss"),
    Feature("val_loss_ends_nonfinite", "bool", "", "a held-out loss that was finite ends NaN or infinite", "val_loss"),
    Feature("train_fall_logged", "float", "share", "the same between logged values, if the training loss has fewer than 30", "val_loss"),
    Feature("train_fall_since_val_best", "float", "share", "relative fall of the training loss since the held-out loss was lowest", "val_loss"),
    Feature("train_val_gap", "float", "share", "(held-out − training) / |training| at the end", "val_loss"),
    Feature("val_over_train", "float", "ratio", "held-out loss divided by the training loss at the end (positive losses only)", "val_loss"),
    Feature("train_val_gap_growth", "float", "share", "growth of this gap since the held-out loss was lowest", "val_loss"),
    Feature("train_val_gap_widening", "float", "noise", "final gap minus smallest gap, in units of the noise of the held-out loss", "val_loss"),
    Feature("train_val_gap_onset_step", "int", "step", "step from which the gap stays above its smallest value by more than the noise", "val_loss"),
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
    Feature("val_loss_kept_share", "float", "share", "last level of the held-out loss divided by its first value (positive losses only); the first value alone shows the start where a few trees or passes learn most", "val_loss"),
    Feature("val_loss_fell_far", "bool", "", "a held-out loss is logged, which fell by more than 30 % and ended within a tenth of its lowest level", "val_accuracy"),
    Feature("val_loss_ends_lowest", "bool", "", "the held-out loss fell beyond its noise and ends near its lowest level, by limits (false also where none is logged, if a score is)", "val_accuracy"),
    Feature("val_score_fall_z", "float", "standard errors", "change of the held-out score from the twentieth around its highest level to the last tenth, in standard errors (negative = fell)", "val_accuracy"),
    Feature("val_score_gain", "float", "score", "last value minus first value", "val_accuracy"),
    Feature("val_score_late_gain_share", "float", "share", "gain over the last third as a share of the gain of the whole run (1: all of it, or more)", "val_accuracy"),
    Feature("val_score_still_share", "float", "share", "share of the values that form an unbroken run at the end, all equal to the last", "val_accuracy"),
    Feature("val_score_quantum", "float", "score", "smallest step between the rounded values of the held-out score (0: full precision)", "val_accuracy"),
    Feature("val_score_constant", "bool", "", "three or more values, all equal", "val_accuracy"),
    Feature("train_accuracy_last", "float", "score", "last level of the training accuracy (NULL for the share of right tokens, which has no common level)", "train_accuracy"),
    Feature("accuracy_errors_left", "float", "share", "last error share (1 − accuracy) divided by the first, of the training accuracy, or of the held-out accuracy where that is not logged", "train_accuracy"),
    Feature("accuracy_gap", "float", "score", "training accuracy minus held-out accuracy at the end", "val_accuracy"),
)  # fmt: skip


def compute(context: Context) -> Computed:
    """All of FEATURES; a group without its metric is left out."""
    losses, scored = _losses(context), _scores(context)
    if "val_score_metric" not in scored:
        return losses | scored
    return (
        losses
        | scored
        | {
            "val_loss_fell_far": _ends_low(losses, "val_loss_drop_relative", feature_limit("held_out_fall")),
            "val_loss_ends_lowest": _ends_low(losses, "val_loss_drop_z", feature_limit("significant_gain")),
        }
    )


def other_fall(curve: Curve, held_out: Sequence[Curve]) -> tuple[float, str]:
    """How far another of the held-out losses fell since `curve` was lowest, as a share of its level then, and its name.

    Returns 0 and an empty name if none fell.
    """
    lowest = lowest_index(curve.values)
    step = int(curve.steps[lowest]) if lowest is not None else int(curve.steps[-1])
    falls = [(0.0, "")]
    for other in (c for c in held_out if _is_of_another_set(curve.metric, c.metric)):
        before, last = last_level(other.values[other.steps <= step]), last_level(other.values)
        share_left = ratio(last, before)
        falls += [] if share_left is None else [(1 - share_left, other.metric)]
    return max(falls)


def _is_of_another_set(metric: str, other: str) -> bool:
    """Whether two held-out losses may be the same measure of different sets.

    >>> _is_of_another_set("eval_old_loss", "eval_new_loss"), _is_of_another_set("val_loss", "val_rmse")
    (True, False)
    >>> _is_of_another_set("eval_loss", "eval/loss"), _is_of_another_set("eval_loss", "eval_train_loss")
    (False, False)
    """
    names, words = (normalise(metric), normalise(other)), (measure(metric).split("_"), measure(other).split("_"))
    return names[0] != names[1] and "train" not in names[1] and not set(words[0]).isdisjoint(words[1])


def of_tokens(accuracy: Curve) -> bool:
    """Whether it is the share of right tokens (`mean_token_accuracy`), which has neither a common level nor classes."""
    return "token" in accuracy.metric.lower()


def worst_loss(context: Context) -> tuple[Curve, Gap] | None:
    """The held-out loss that looks worst and its gap to the training loss; None if none is logged.

    A model may be evaluated on several sets. A set that gets worse while another one improves is forgotten, or of another
    distribution, and says nothing about new samples of what is trained: `features/forgetting.py` is about it.
    """
    whole = context.with_role("val_loss")
    held_out = whole or context.with_role("val_loss_component")
    # fewer values than those of a course, and without a step, are results of tests behind the training
    longest = max((c.values.size for c in held_out), default=0)
    held_out = [c for c in held_out if 2 * c.values.size > longest or not shows_no_course(context, c)]
    if whole or _is_of_language(context):
        held_out = [c for c in held_out if not _another_gains(c, held_out)] or held_out
    gaps = [(c, context.gap(_partner(context, c), c)) for c in held_out]
    return max(gaps, key=_badness, default=None)


def _another_gains(curve: Curve, held_out: Sequence[Curve]) -> bool:
    """Whether another held-out loss fell far since `curve` was lowest, or further than `curve` rose."""
    fall, _ = other_fall(curve, held_out)
    lowest, last = lowest_index(curve.values), last_level(curve.values)
    if fall >= feature_limit("other_set_fell") or lowest is None or last is None:
        return fall >= feature_limit("other_set_fell")
    rise = last - float(curve.values[lowest])
    return fall > 0 and rise < fall * abs(float(curve.values[lowest]))


def _is_of_language(context: Context) -> bool:
    return context.training_kind is not None and context.training_kind.kind in OF_LANGUAGE


def _losses(context: Context) -> Computed:
    found = worst_loss(context)
    if found is None:
        return {}
    curve, gap = found
    shape = context.shape(curve)
    best = witness_at(curve, gap.best_index if gap.best_index is not None else shape.best_index)
    lowest, finite = lowest_index(curve.values), curve.values[np.isfinite(curve.values)]
    span = float(curve.steps[-1] - curve.steps[0])
    return {
        "val_loss_metric": curve.metric,
        "val_loss_is_total": curve.role.name == "val_loss",
        "val_loss_is_sum": is_sum(curve),
        "val_loss_points": len(curve.values),
        "val_loss_last": float(finite[-1]) if finite.size else None,
        "val_loss_best": (None if lowest is None else float(curve.values[lowest]), witness_at(curve, lowest)),
        "val_loss_best_step": (witness_at(curve, lowest).step, witness_at(curve, lowest)),
        "val_loss_best_share": (best.step - int(curve.steps[0])) / span if best.step is not None and span > 0 else None,
        "val_loss_later_rise": _later_rise(curve.values),
        "val_loss_points_after_best": gap.points_after_best,
        "val_loss_rise_ratio": (gap.rise_ratio or shape.rise_ratio, best),
        "val_loss_rise_noise": (gap.rise, best),
        "val_loss_rise_z": (since_z(curve.values, gap.best_index), best),
        "val_loss_drop_z": minus(whole_z(curve.values)),
        "val_loss_drop_relative": shape.total_relative_drop,
        "val_loss_kept_share": ratio(last_level(finite), float(finite[0]))
        if finite.size and finite.min() > 0
        else None,
        "val_loss_half_drop_relative": _half_drop(finite),
        "val_loss_trend": tau(finite[finite.size // 2 :], MIN_TREND_POINTS),
        "val_loss_alone": not context.with_role("train_loss", "loss_component", "recon_loss", "rl_loss"),
        "val_score_at_best": _ends_at_best(scores(context)),
        "train_fall_since_val_best": (gap.train_fall, best),
        "train_fall_logged": _logged_fall(_partner(context, curve), gap.train_fall, best.step),
        "train_val_gap": gap.final_ratio,
        "val_over_train": _over(context, curve, gap),
        "train_val_gap_growth": None
        if gap.final_ratio is None or gap.best_ratio is None
        else gap.final_ratio - gap.best_ratio,
        "train_val_gap_widening": gap.widening,
        **_onset(curve, gap.onset_index),
        **event("val_loss_nonfinite", True, context.findings_on("nonfinite", *LOSSES)),
        **_broken(context.with_role(*LOSSES)),
    }


def _half_drop(finite: NDArray[np.float64]) -> float | None:
    """The fall from the middle fifth to the last fifth of the finite values; None with fewer than MIN_HALF_POINTS."""
    n = finite.size
    if n < MIN_HALF_POINTS:
        return None
    middle = float(np.median(finite[int(0.4 * n) : int(0.6 * n)]))
    return ratio(middle - float(np.median(finite[int(0.8 * n) :])), abs(middle))


def _ends_low(losses: Computed, fall: str, least: float) -> bool:
    """Whether the `fall` of the held-out loss, a feature, is above `least`, and the loss ends near its lowest level."""
    fell, rise = losses.get(fall), losses.get("val_loss_rise_ratio")
    rise = rise[0] if isinstance(rise, tuple) else rise
    if not isinstance(fell, float) or not isinstance(rise, float):
        return False
    return fell > least and rise < feature_limit("held_out_near_lowest")


def _over(context: Context, held_out: Curve, gap: Gap) -> float | None:
    train = _partner(context, held_out)
    level = last_level(train.values) if train is not None else None
    return gap.final_ratio + 1 if gap.final_ratio is not None and level is not None and level > 0 else None


def _logged_fall(train: Curve | None, level_fall: float | None, best_step: int | None) -> float | None:
    """The fall of few logged training losses since the step `best_step`; of many values that of their level."""
    if train is None or best_step is None or level_fall is None or train.values.size >= MIN_LEVEL_VALUES:
        return level_fall
    at_best = float(train.values[np.argmin(np.abs(train.steps - best_step))])
    return ratio(at_best - float(train.values[-1]), abs(at_best))


def _later_rise(values: NDArray[np.float64]) -> float | None:
    """How far the lowest value after the first one is above the first; None if that is not positive or nothing follows."""
    later = values[1:][np.isfinite(values[1:])]
    known = later.size and np.isfinite(values[0]) and values[0] > 0
    return float(later.min() / values[0]) - 1 if known else None


def _ends_at_best(held_out: Sequence[Curve]) -> bool:
    if not held_out:
        return False
    x = share(held_out[0])
    x = x[np.isfinite(x)]
    return x.size >= 4 and bool(x[-1] > x[0] and x[-1] >= (1 - feature_limit("score_near_best")) * x.max())


def _onset(curve: Curve, index: int | None) -> Computed:
    if index is None:
        return {}
    witness = witness_at(curve, index)
    return {"train_val_gap_onset_step": (witness.step, witness)}


def _broken(held_out: list[Curve]) -> Computed:
    """Losses that were finite and whose last two values are not, and losses that were never finite."""
    broken = [c for c in held_out if np.isfinite(c.values).any() and not np.isfinite(c.values[-2:]).any()]
    never = [
        c for c in held_out if not np.isfinite(c.values).any() and (len(c.values) >= 2 or np.isinf(c.values).any())
    ]
    return {
        "val_loss_ends_nonfinite": bool(broken),
        "val_loss_nonfinite_metric": broken[0].metric if broken else None,
        "val_loss_never_finite_metric": never[0].metric if never else "",
    }


def _badness(pair: tuple[Curve, Gap]) -> float:
    curve, gap = pair
    falling = gap.train_fall is not None and gap.train_fall > 0
    return (gap.rise_ratio or 0.0) * (2.0 if falling else 1.0) + 1e-9 * len(curve.values)


def _partner(context: Context, held_out: Curve) -> Curve | None:
    """The training curve of the same name apart from the word for held-out data, otherwise the training loss."""
    wanted = bare_name(held_out.metric)
    train = [*context.with_role("train_loss"), *context.with_role("loss_component", "recon_loss", "quantisation_loss")]
    same = [c for c in train if bare_name(c.metric) == wanted]
    return next(iter(same or (context.with_role("train_loss") if held_out.role.name == "val_loss" else [])), None)


def _scores(context: Context) -> Computed:
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


def is_one_sided(curve: Curve) -> bool:
    """Whether it is a precision or a recall, which can be traded for each other. An average precision is not."""
    return bool(_ONE_SIDED.search(normalise(curve.metric)))


def scores(context: Context) -> list[Curve]:
    """Held-out accuracies, otherwise scores, otherwise error rates.

    Precision and recall can be traded for each other, so they count only without a score that weighs both. Of several
    held-out sets, those of the set with the judged loss come first.
    """
    roles = ("val_accuracy", "val_score", "val_error_rate")
    curves = next(filter(None, map(context.with_role, roles)), [])
    whole = [c for c in curves if not is_one_sided(c)]
    found = [c for c in whole or curves if np.isfinite(c.values).any()]
    return _same_set_first(context, found) if len(found) > 1 else found


def _same_set_first(context: Context, found: list[Curve]) -> list[Curve]:
    """Beside `eval_mnli_loss`, `eval_mnli_accuracy` comes before `eval_hans_accuracy`."""
    judged = worst_loss(context)
    set_words = _set_words(judged[0].metric) if judged else set()
    return sorted(found, key=lambda c: -len(set_words & _set_words(c.metric)))


def _set_words(metric: str) -> set[str]:
    """The words of a name that are left of `eval_mnli_matched_loss`: `mnli` and `matched`."""
    words = role_file().words
    return {w for w in normalise(metric).split("_") if not w.isdigit()} - words["val"] - words["aggregate"]


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


def share(curve: Curve) -> NDArray[np.float64]:
    """The values as shares of 1: accuracies in per cent are divided by 100, error rates subtracted from 1, other scores
    unchanged.
    """
    if curve.role.name == "val_score":
        return curve.values
    values = as_shares(curve.values)
    return 1 - values if curve.role.name == "val_error_rate" else values


def as_shares(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values as shares of 1: those in per cent are divided by 100.

    >>> as_shares(np.array([50.0, 75.0])).tolist(), as_shares(np.array([0.5, 0.75])).tolist()
    ([0.5, 0.75], [0.5, 0.75])
    """
    highest = np.max(values[np.isfinite(values)], initial=0.0)
    return values / 100 if highest > feature_limit("share_highest") else values
