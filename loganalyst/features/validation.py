"""Features of held-out losses, compared with the training loss."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from loganalyst.curves.heldoutsets import is_sum
from loganalyst.features.context import (
    Computed,
    Context,
    event,
    event_features,
    last_level,
    lowest_index,
    minus,
    ratio,
    tau,
    witness_at,
)
from loganalyst.features.judgedloss import partner, worst_loss
from loganalyst.features.judgedscores import scores
from loganalyst.features.shares import share
from loganalyst.model import Curve, Feature
from loganalyst.signals import Gap
from loganalyst.signals.standarderror import since_z, whole_z
from loganalyst.thresholds import feature_limit

LOSSES = ("val_loss", "val_loss_component")
MIN_TREND_POINTS = 6
MIN_LEVEL_VALUES = 30  # fewer values are stated as logged, for a level of them may be none of them
MIN_HALF_POINTS = 4  # so that the middle and the end are different values

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
    Feature("val_score_at_best", "bool", "", "a held-out score with at least four values is logged too; it gained, or began without errors, and ended within half a percent of its best", "val_loss"),
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
    Feature("val_loss_kept_share", "float", "share", "last level of the held-out loss divided by its first value (positive losses only); the first value alone shows the start where a few trees or passes learn most", "val_loss"),
    Feature("val_loss_fell_far", "bool", "", "a held-out loss is logged, which fell by more than 30 % and ended within a tenth of its lowest level", "val_accuracy"),
    Feature("val_loss_ends_lowest", "bool", "", "the held-out loss fell beyond its noise and ends near its lowest level, by limits (false also where none is logged, if a score is)", "val_accuracy"),
)  # fmt: skip


def compute(context: Context) -> Computed:
    """All of FEATURES; a group without its metric is left out."""
    losses = _losses(context)
    return losses | _lowest_beside_a_score(losses) if scores(context) else losses


def _lowest_beside_a_score(losses: Computed) -> Computed:
    """Whether the loss ends low, which a rule about the score asks."""
    return {
        "val_loss_fell_far": _ends_low(losses, "val_loss_drop_relative", feature_limit("held_out_fall")),
        "val_loss_ends_lowest": _ends_low(losses, "val_loss_drop_z", feature_limit("significant_gain")),
    }


def _losses(context: Context) -> Computed:
    """The features of the held-out loss that looks worst; none where no held-out loss is logged."""
    found = worst_loss(context)
    if found is None:
        return {}
    curve, gap = found
    return {
        "val_loss_metric": curve.metric,
        "val_loss_is_total": curve.role.name == "val_loss",
        "val_loss_is_sum": is_sum(curve),
        "val_loss_points": len(curve.values),
        "val_loss_alone": not context.with_role("train_loss", "loss_component", "recon_loss", "rl_loss"),
        "val_score_at_best": _ends_at_best(scores(context)),
        **_course(context, curve),
        **_since_best(context, curve, gap),
        **_against_training(context, curve, gap),
        **event("val_loss_nonfinite", True, context.findings_on("nonfinite", *LOSSES)),
        **_broken(context.with_role(*LOSSES)),
    }


def _course(context: Context, curve: Curve) -> Computed:
    """How far the loss fell, and its lowest value as logged."""
    lowest, finite = lowest_index(curve.values), curve.values[np.isfinite(curve.values)]
    positive = finite.size and finite.min() > 0
    return {
        "val_loss_last": float(finite[-1]) if finite.size else None,
        "val_loss_best": (None if lowest is None else float(curve.values[lowest]), witness_at(curve, lowest)),
        "val_loss_best_step": (witness_at(curve, lowest).step, witness_at(curve, lowest)),
        "val_loss_later_rise": _later_rise(curve.values),
        "val_loss_drop_z": minus(whole_z(curve.values)),
        "val_loss_drop_relative": context.shape(curve).total_relative_drop,
        "val_loss_kept_share": ratio(last_level(finite), float(finite[0])) if positive else None,
        "val_loss_half_drop_relative": _half_drop(finite),
        "val_loss_trend": tau(finite[finite.size // 2 :], MIN_TREND_POINTS),
    }


def _since_best(context: Context, curve: Curve, gap: Gap) -> Computed:
    """What the loss and the training loss did since the smoothed loss was lowest."""
    shape = context.shape(curve)
    best = witness_at(curve, gap.best_index if gap.best_index is not None else shape.best_index)
    span = float(curve.steps[-1] - curve.steps[0])
    return {
        "val_loss_best_share": (best.step - int(curve.steps[0])) / span if best.step is not None and span > 0 else None,
        "val_loss_points_after_best": gap.points_after_best,
        "val_loss_rise_ratio": (gap.rise_ratio or shape.rise_ratio, best),
        "val_loss_rise_noise": (gap.rise, best),
        "val_loss_rise_z": (since_z(curve.values, gap.best_index), best),
        "train_fall_since_val_best": (gap.train_fall, best),
        "train_fall_logged": _logged_fall(partner(context, curve), gap.train_fall, best.step),
    }


def _against_training(context: Context, curve: Curve, gap: Gap) -> Computed:
    """The gap to the training loss, and how it grew."""
    final, best = gap.final_ratio, gap.best_ratio
    return {
        "train_val_gap": final,
        "val_over_train": _over(context, curve, gap),
        "train_val_gap_growth": None if final is None or best is None else final - best,
        "train_val_gap_widening": gap.widening,
        **_onset(curve, gap.onset_index),
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
    train = partner(context, held_out)
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
    held = x.size >= 4 and x[-1] >= (1 - feature_limit("score_near_best")) * x.max()
    return bool(held and (x[-1] > x[0] or x[0] > feature_limit("score_begins_faultless")))


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
