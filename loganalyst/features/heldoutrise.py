"""What a rising held-out loss costs: how much of its fall it gave back, and whether a held-out score rose meanwhile.

A rise that looks large beside the lowest value may be small beside what the model learned.
"""

import numpy as np

from loganalyst.curves import axes
from loganalyst.features.context import Computed, Context, median, ratio, witness_at
from loganalyst.features.judgedloss import worst_loss
from loganalyst.features.judgedscores import scores
from loganalyst.features.shares import share
from loganalyst.model import Curve, Feature
from loganalyst.signals import Gap
from loganalyst.signals.standarderror import whole_z
from loganalyst.thresholds import feature_limit

FEATURES = (
    Feature("val_loss_given_back", "float", "share", "rise of the held-out loss after its lowest level, as a share of its fall from the first logged value to that level (1: it ended at its first value, or above)", "val_loss"),
    Feature("val_loss_swings", "bool", "", "the held-out loss swings so far that neither its fall over the run nor its rise since its best is beyond its noise (false also with few values or none)", "val_loss"),
    Feature("val_score_rose_since_loss_best", "bool", "", "a held-out score ends higher than when the held-out loss was lowest, by medians of three", "val_accuracy"),
    Feature("val_score_risen_metric", "text", "", "name of that score", "val_accuracy"),
)  # fmt: skip
POINTS = 3  # values of a score that show its level


def compute(context: Context) -> Computed:
    """All of FEATURES; without a held-out loss only that none swings."""
    found = worst_loss(context)
    if found is None:
        return {"val_loss_swings": False}
    curve, gap = found
    risen: Computed = {"val_loss_swings": _swings(context, curve, gap)}
    risen |= _risen(context, curve, gap.best_index) if gap.best_index is not None else {}
    shape = context.shape(curve)
    finite = curve.values[np.isfinite(curve.values)]
    if shape.best is None or shape.last is None or not finite.size:
        return risen
    fall, rise = float(finite[0]) - shape.best, max(shape.last - shape.best, 0.0)
    given_back = rise / fall if rise < fall else 1.0
    return risen | {"val_loss_given_back": (given_back, witness_at(curve, gap.best_index))}


def _swings(context: Context, held_out: Curve, gap: Gap) -> bool:
    """Whether the noise of a held-out loss is large beside its level, its fall and its rise since its best."""
    shape = context.shape(held_out)
    noise = ratio(shape.noise, abs(shape.last)) if shape.last is not None else None
    moved_z = whole_z(held_out.values)
    if held_out.values.size < feature_limit("swing_points") or noise is None or gap.rise is None or moved_z is None:
        return False
    moved = abs(moved_z) > feature_limit("swing_move_z") or gap.rise > feature_limit("swing_rise_noise")
    return noise > feature_limit("swing_noise") and not moved


def _risen(context: Context, held_out: Curve, best: int) -> Computed:
    """The first score that ends higher than it was at the lowest held-out loss."""
    curves = scores(context)
    risen = next((c for c in curves if _ends_higher(context, c, held_out, best)), None)
    if risen is None:
        return {"val_score_rose_since_loss_best": False} if curves else {}
    return {"val_score_rose_since_loss_best": (True, witness_at(risen, -1)), "val_score_risen_metric": risen.metric}


def _ends_higher(context: Context, score: Curve, held_out: Curve, best: int) -> bool:
    steps, loss_steps = axes.common_axis(score, held_out, context.with_role("epoch"))
    x = share(score)
    finite = np.isfinite(x)
    before, after = x[finite & (steps <= loss_steps[best])][-POINTS:], x[finite & (steps > loss_steps[best])][-POINTS:]
    if before.size < POINTS or after.size < POINTS:
        return False
    return median(after) > median(before) + feature_limit("score_near_best") * abs(median(before))
