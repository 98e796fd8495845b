"""Whether training started over within its curve: after a jump, the loss falls as it did at the start.

A program that continues the old step count with fresh weights shows no restart in its logs, only this.
"""

import numpy as np
from numpy.typing import NDArray

from loganalyst.features.context import Computed, Context, first_level, witness_at
from loganalyst.model import Curve, Feature
from loganalyst.thresholds import feature_limit

ROLE = "train_loss"
LEVEL_POINTS = 3  # points of a level on one side of a jump

FEATURES = (
    Feature("relearn_count", "int", "jumps", "rises of the training loss between neighbouring points that are at least half as large as the largest", ROLE),
    Feature("relearn_step", "int", "step", "first step after the largest of these rises", ROLE),
    Feature("relearn_start_share", "float", "share", "how far this rise returned to the loss at the start of training (1 = completely)", ROLE),
    Feature("relearn_points", "int", "points", "values after this rise that can be compared with the first values of the run", ROLE),
    Feature("relearn_fall_share", "float", "share", "drop over these first values, as a share of the total drop before the jump", ROLE),
    Feature("relearn_again_share", "float", "share", "drop over as many values after this rise, as a share of that drop at the start", ROLE),
    Feature("relearn_mismatch", "float", "share", "typical distance between the values after the jump and the first values, as a share of the same total drop", ROLE),
)  # fmt: skip


def compute(context: Context) -> Computed:
    """All of FEATURES for a curve with rising steps and without a logged restart, which `resume_…` describes.

    Nothing if the first pass over the data ends at the jump, and no held-out loss jumps with it: every pass may fall
    alike, as over batches sorted by length.
    """
    curves = context.with_role(ROLE)
    if not curves or np.diff(curves[0].sessions).any() or (np.diff(curves[0].steps) <= 0).any():
        return {}
    curve = curves[0]
    finite = np.flatnonzero(np.isfinite(curve.values))
    x = curve.values[finite]
    side = int(feature_limit("jump_side_points"))
    if x.size < 2 * side:
        return {}
    levels = np.median(np.lib.stride_tricks.sliding_window_view(x, LEVEL_POINTS), axis=1)
    last = x.size - side + 1
    rises = levels[side:last] - levels[side - LEVEL_POINTS : last - LEVEL_POINTS]
    at = int(np.argmax(rises)) + side
    rise, first = float(rises.max()), first_level(x)
    depth = (first if first is not None else 0.0) - float(levels[at - LEVEL_POINTS])
    if rise <= 0 or depth <= 0:
        return {"relearn_count": 0}
    witness = witness_at(curve, int(finite[at]))
    if _second_pass(curve, int(finite[at])) and not _held_out_returned(context, int(curve.steps[finite[at]])):
        return {}
    out = {
        "relearn_count": (_separate(rises > rise / 2), witness),
        "relearn_step": (witness.step, witness),
        "relearn_start_share": (rise / depth, witness),
    }
    return {**out, **_compared_with_start(curve.steps[finite], x, at, depth)}


def _second_pass(curve: Curve, at: int) -> bool:
    """Whether the point at `at` is the first of the second logged epoch."""
    epoch = np.floor(curve.epochs[: at + 1] + 1e-6)
    return bool(np.unique(epoch[:-1]).size == 1 and epoch[-1] > epoch[-2])


def _held_out_returned(context: Context, step: int) -> bool:
    """Whether a held-out loss rose at `step` by most of what it had fallen. The order of the samples cannot raise it."""
    for curve in context.with_role("val_loss"):
        before, after = (curve.values[there] for there in (curve.steps < step, curve.steps >= step))
        if before.size >= LEVEL_POINTS and after.size and before[0] > before[-1]:
            return bool(after[0] - before[-1] > feature_limit("relearned_rise") * (before[0] - before[-1]))
    return False


def _separate(mask: NDArray[np.bool_]) -> int:
    """Number of rises that are further apart than the points of a level."""
    return 1 + int((np.diff(np.flatnonzero(mask)) > LEVEL_POINTS).sum())


def _compared_with_start(steps: NDArray[np.int64], x: NDArray[np.float64], at: int, depth: float) -> Computed:
    """The values from `at` on compared with the first values at the same distance in steps."""
    since = steps[at:] - steps[at]
    since = since[since <= steps[at - 1] - steps[0]]
    before, after = np.interp(steps[0] + since, steps[:at], x[:at]), x[at : at + len(since)]
    fell, fell_again = _drop(before), _drop(after)
    return {
        "relearn_points": len(since),
        "relearn_fall_share": fell / depth,
        "relearn_again_share": fell_again / fell if fell > 0 else None,
        "relearn_mismatch": float(np.median(np.abs(after - before))) / depth,
    }


def _drop(x: NDArray[np.float64]) -> float:
    """How far the values fall from their first level to their last."""
    return float(np.median(x[:LEVEL_POINTS]) - np.median(x[-LEVEL_POINTS:]))
