"""Whether training began anew in the midst of its curve: from a jump on, the loss falls again as it did at the start.

A program that goes on under the old step number with fresh weights shows no restart in its logs, only this.
"""

import numpy as np
from numpy.typing import NDArray

from loganalyst.features.context import Computed, Context, first_level, witness_at
from loganalyst.model import Curve, Feature

ROLE = "train_loss"
SIDE = 3  # points that tell the level on a side of a jump
FEWEST = 8  # points on both sides of it

FEATURES = (
    Feature("relearn_count", "int", "jumps", "rises of the training loss between neighbouring points that are at least half as large as the largest", ROLE),
    Feature("relearn_step", "int", "step", "first step after the largest of these rises", ROLE),
    Feature("relearn_start_share", "float", "share", "how far this rise returned to the loss at the start of training (1 = completely)", ROLE),
    Feature("relearn_points", "int", "points", "values after this rise that can be compared with the first values of the run", ROLE),
    Feature("relearn_fall_share", "float", "share", "drop over these first values, as a share of the total drop before the jump", ROLE),
    Feature("relearn_mismatch", "float", "share", "typical distance between the values after the jump and the first values, as a share of the same total drop", ROLE),
)  # fmt: skip


def compute(context: Context) -> Computed:
    """All of FEATURES for a curve without a restart of its own (those are told by `resume_…`) whose steps only grow.
    Nothing where the first pass over the data ends at the jump: each may fall so, as over batches sorted by length.
    """
    curves = context.with_role(ROLE)
    if not curves or np.diff(curves[0].sessions).any() or (np.diff(curves[0].steps) <= 0).any():
        return {}
    curve = curves[0]
    whole = np.flatnonzero(np.isfinite(curve.values))
    x = curve.values[whole]
    if x.size < 2 * FEWEST:
        return {}
    levels = np.median(np.lib.stride_tricks.sliding_window_view(x, SIDE), axis=1)
    rises = levels[FEWEST : x.size - FEWEST + 1] - levels[FEWEST - SIDE : x.size - FEWEST + 1 - SIDE]
    at = int(np.argmax(rises)) + FEWEST
    rise, first = float(rises.max()), first_level(x)
    depth = (first if first is not None else 0.0) - float(levels[at - SIDE])
    if rise <= 0 or depth <= 0:
        return {"relearn_count": 0}
    if _second_pass(curve, int(whole[at])):
        return {}
    witness = witness_at(curve, int(whole[at]))
    told = {
        "relearn_count": (_separate(rises > rise / 2), witness),
        "relearn_step": (witness.step, witness),
        "relearn_start_share": (rise / depth, witness),
    }
    return {**told, **_laid_over(curve.steps[whole], x, at, depth)}


def _second_pass(curve: Curve, at: int) -> bool:
    """Whether the point at `at` is the first of the second epoch that was logged."""
    epoch = np.floor(curve.epochs[: at + 1] + 1e-6)
    return bool(np.unique(epoch[:-1]).size == 1 and epoch[-1] > epoch[-2])


def _separate(mask: NDArray[np.bool_]) -> int:
    """Rises that lie further apart than the points that tell their levels."""
    return 1 + int((np.diff(np.flatnonzero(mask)) > SIDE).sum())


def _laid_over(steps: NDArray[np.int64], x: NDArray[np.float64], at: int, depth: float) -> Computed:
    """The values from `at` on beside those from the start on, at the same distance in steps."""
    since = steps[at:] - steps[at]
    since = since[since <= steps[at - 1] - steps[0]]
    before = np.interp(steps[0] + since, steps[:at], x[:at])
    return {
        "relearn_points": len(since),
        "relearn_fall_share": float(np.median(before[:SIDE]) - np.median(before[-SIDE:])) / depth,
        "relearn_mismatch": float(np.median(np.abs(x[at : at + len(since)] - before))) / depth,
    }
