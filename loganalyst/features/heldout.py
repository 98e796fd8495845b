"""Features of held-out values compared with training from the first evaluation on, beyond overfitting."""

import numpy as np
from numpy.typing import NDArray

from loganalyst.curves import axes
from loganalyst.features.context import Computed, Context, Value, ratio, witness_at
from loganalyst.features.shares import as_shares, unit
from loganalyst.model import Curve, Feature
from loganalyst.thresholds import feature_limit

FEATURES = (
    Feature("train_val_gap_first", "float", "share", "(held-out − training) / |training| at the first evaluations (median of three)", "val_loss"),
    Feature("val_below_train_share", "float", "share", "share of the evaluations at which the held-out loss is below the training loss of that time", "val_loss"),
    Feature("val_loss_noise_relative", "float", "share", "noise of the held-out loss relative to its last level", "val_loss"),
    Feature("val_still_count", "int", "evaluations", "evaluations at the end with the same logged held-out loss, if all earlier ones differ from their predecessors (1 = the last one changed; more: the weights stopped moving)", "val_loss"),
    Feature("val_still_share", "float", "share", "share of the evaluations that are among them", "val_loss"),
    Feature("val_still_step", "int", "step", "step of the first of them", "val_loss"),
    Feature("val_accuracy_lead", "float", "score", "held-out accuracy minus training accuracy (median over the run)", "val_accuracy"),
    Feature("val_error_fall_since_loss_best", "float", "share", "relative fall of a held-out error rate (of words, characters, answers) since the held-out loss was lowest, by medians of three (0: it did not fall, or none is logged)", "val_error_rate"),
    Feature("held_out_sets_ratio", "float", "ratio", "last held-out loss divided by the lowest last loss of any other held-out set", "val_loss"),
    Feature("held_out_sets_apart", "bool", "", "held_out_sets_ratio is above a limit (false also where there is no other set)", "val_loss"),
    Feature("train_accuracy_first", "float", "share", "training accuracy up to the first evaluation", "train_accuracy"),
    Feature("val_accuracy_first", "float", "share", "first held-out accuracy", "val_accuracy"),
    Feature("val_accuracy_begins_good", "bool", "", "it is so high that the model had learned before", "val_accuracy"),
    Feature("val_accuracy_never_learned", "bool", "", "it stays low, and hardly rises above its first value (false also where there are too few evaluations or none)", "points"),
)  # fmt: skip
MIN_EVALUATIONS = 3
MIN_STOPPED_CHANGE = 10  # units of the last digit; a loss that still changed by so many does not come to rest by itself
MAX_REPEATING_DIGITS = 3  # decimals: values logged with so few repeat by chance


def compute(context: Context) -> Computed:
    """All of FEATURES; a group without its metric is left out."""
    out: Computed = {}
    for held_out in context.with_role("val_loss", "val_loss_component")[:1]:
        out["val_error_fall_since_loss_best"] = _error_fall(context, held_out)
    for held_out in context.with_role("val_loss")[:1]:
        shape = context.shape(held_out)
        level = abs(shape.last) if shape.last is not None else None
        out["val_loss_noise_relative"] = (ratio(shape.noise, level), witness_at(held_out))
        out |= _unchanged_end(held_out, context.quantum(held_out))
        out |= _over_other_set(context, held_out)
        for train in context.with_role("train_loss")[:1]:
            out |= _gap(context, train, held_out)
    return out | _accuracy(context)


def _over_other_set(context: Context, held_out: Curve) -> Computed:
    """The last loss of this held-out set, divided by the lowest last loss of another one."""
    ends = [(float(c.values[-1]), c) for c in context.with_role("val_loss")[1:] if c.values.size and c.values[-1] > 0]
    if not ends or not held_out.values.size:
        return {"held_out_sets_apart": False}
    lowest, other = min(ends, key=lambda end: end[0])
    times = float(held_out.values[-1]) / lowest
    return {
        "held_out_sets_ratio": (times, witness_at(other)),
        "held_out_sets_apart": times > feature_limit("held_out_sets_apart"),
    }


def _unchanged_end(held_out: Curve, step: float) -> Computed:
    """The unchanged losses at the end. Losses with few digits repeat by chance, so they do not count, and all earlier
    losses must differ. Nor do losses that came to rest below their last printed digit, the `step`.
    """
    x = held_out.values
    if x.size < MIN_EVALUATIONS or not np.isfinite(x).all() or x[-1] == round(float(x[-1]), MAX_REPEATING_DIGITS):
        return {}
    changes = np.flatnonzero(np.diff(x) != 0)
    first = int(changes[-1]) + 1 if changes.size else 0
    if changes.size < first or (first and abs(x[first] - x[first - 1]) < MIN_STOPPED_CHANGE * step):
        return {}
    witness = witness_at(held_out, first)
    count = x.size - first
    return {
        "val_still_count": count,
        "val_still_share": count / x.size,
        "val_still_step": (witness.step, witness),
    }


def _error_fall(context: Context, held_out: Curve) -> Value:
    """The relative fall of the error rate from the lowest held-out loss to the end."""
    best = context.gap(next(iter(context.with_role("train_loss")), None), held_out).best_index
    for curve in context.with_role("val_error_rate")[:1]:
        steps, held_out_steps = axes.common_axis(curve, held_out, context.with_role("epoch"))
        if best is not None and (curve.values >= 0).all():
            before, after = (
                curve.values[there] for there in (steps <= held_out_steps[best], steps > held_out_steps[best])
            )
            if before.size and after.size and np.median(before[-MIN_EVALUATIONS:]):
                share = float(np.median(after[-MIN_EVALUATIONS:]) / np.median(before[-MIN_EVALUATIONS:]))
                return max(0.0, 1 - share), witness_at(curve)
    return 0.0


def _gap(context: Context, train: Curve, held_out: Curve) -> Computed:
    ours, theirs = _paired(context, train, held_out)
    if ours.size < MIN_EVALUATIONS or not ours.all() or not context.comparable(train, held_out):
        return {}
    gaps = (theirs - ours) / np.abs(ours)
    return {
        "train_val_gap_first": float(np.median(gaps[:MIN_EVALUATIONS])),
        "val_below_train_share": (float(np.mean(theirs < ours)), witness_at(held_out)),
    }


def _accuracy(context: Context) -> Computed:
    out: Computed = {"val_accuracy_never_learned": False}
    for held_out in context.with_role("val_accuracy")[:1]:
        shares = as_shares(held_out.values[np.isfinite(held_out.values)])
        first = float(shares[0]) if shares.size else None
        out["val_accuracy_never_learned"] = _never_learned(shares)
        out["val_accuracy_first"] = (first, witness_at(held_out))
        out["val_accuracy_begins_good"] = None if first is None else first > feature_limit("score_begins_good")
        for train in context.with_role("train_accuracy")[:1]:
            ours, theirs = _paired(context, train, held_out)
            if ours.size >= MIN_EVALUATIONS:
                scale = unit(ours, theirs)
                out["train_accuracy_first"] = float(ours[0]) / scale
                out["val_accuracy_lead"] = float(np.median(theirs - ours)) / scale
    return out


def _never_learned(shares: NDArray[np.float64]) -> bool:
    enough, low, rise = (feature_limit(f"never_learned_{name}") for name in ("evaluations", "below", "rise"))
    return bool(shares.size >= enough and shares.max() < low and shares.max() - shares[0] < rise)


def _paired(context: Context, train: Curve, held_out: Curve) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Training and held-out values, one pair per evaluation: of training the median since the previous evaluation."""
    train_steps, held_out_steps = axes.common_axis(train, held_out, context.with_role("epoch"))
    ends = np.searchsorted(train_steps, held_out_steps, side="right")
    starts = np.minimum(np.append(0, ends[:-1]), np.maximum(ends - 1, 0))
    levels = _stretch_medians(train.values, starts, ends)
    both = np.isfinite(levels) & np.isfinite(held_out.values)
    return levels[both], held_out.values[both]


def _stretch_medians(x: NDArray[np.float64], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.float64]:
    """The median of the finite values of each stretch of `x`; NaN where a stretch has none."""
    sizes = ends - starts
    stretch = np.repeat(np.arange(sizes.size), sizes)
    values = x[np.arange(stretch.size) - np.repeat(np.cumsum(sizes) - sizes - starts, sizes)]
    finite = np.isfinite(values)
    values, stretch = values[finite], stretch[finite]
    values, counts = values[np.lexsort((values, stretch))], np.bincount(stretch, minlength=sizes.size)
    first, known = np.cumsum(counts) - counts, counts > 0
    out = np.full(sizes.size, np.nan)
    lower, upper = (values[(first + half)[known]] for half in ((counts - 1) // 2, counts // 2))
    out[known] = np.where(lower == upper, lower, (lower + upper) / 2)
    return out
