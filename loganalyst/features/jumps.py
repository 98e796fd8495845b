"""Features of the rise of the training loss: at once or slowly, and what the loss did afterwards."""

import numpy as np
from numpy.typing import NDArray

from loganalyst.curves import axes
from loganalyst.features.context import Computed, Context, ratio, witness_at
from loganalyst.model import Curve, Feature
from loganalyst.signals.quantum import least_ratio

ROLE = "train_loss"
FEATURES = (
    Feature("train_loss_jump_points", "int", "points", "points that the largest lasting rise of the training loss took from a quarter to three quarters of its height (1 = all at once)", ROLE),
    Feature("train_loss_jump_step", "int", "step", "step of the first point after this rise", ROLE),
    Feature("train_loss_jump_share", "float", "share", "position of this rise in the run (0 = start, 1 = end)", ROLE),
    Feature("train_loss_jump_ratio", "float", "ratio", "level after this rise divided by the level before it", ROLE),
    Feature("val_change_since_jump", "float", "share", "relative change of the held-out loss from right before this rise to the end (below 0: it continued to fall)", "val_loss"),
    Feature("train_loss_jump_undone_share", "float", "share", "share of this rise that training undid by the end", ROLE),
)  # fmt: skip
RISE_KINDS = ("divergence", "level_up")
MIN_EVALUATIONS = 3
LEVEL_POINTS = 7  # points of a level on one side of the rise
QUARTER = 0.25
SEARCHED_SHARE = 0.1  # of the curve, to each side of the finding


def compute(context: Context) -> Computed:
    """All of FEATURES, for the first rise that was found; nothing without one."""
    curves = context.with_role(ROLE)
    found = context.findings_on(RISE_KINDS, ROLE)
    if not curves or not found.height:
        return {}
    curve, at = curves[0], int(np.searchsorted(curves[0].steps, found["step"][0]))
    finite = np.flatnonzero(np.isfinite(curve.values))
    out = _rise(curve, finite, int(np.searchsorted(finite, at)), context.quantum(curve))
    place = out.get("train_loss_jump_step")
    if not isinstance(place, tuple) or place[1].step is None:
        return out
    return out | {"val_change_since_jump": _val_change(context, curve, place[1].step)}


def _val_change(context: Context, curve: Curve, step: int) -> float | None:
    """The relative change of the held-out loss after `step`, by medians of three evaluations on both sides."""
    for held_out in context.with_role("val_loss")[:1]:
        ours, theirs = axes.common_axis(curve, held_out, context.with_role("epoch"))
        place = float(np.interp(step, curve.steps, ours))
        before, after = held_out.values[theirs < place], held_out.values[theirs >= place]
        if min(before.size, after.size) >= MIN_EVALUATIONS:
            return ratio(
                float(np.median(after[-MIN_EVALUATIONS:]) - np.median(before[-MIN_EVALUATIONS:])),
                abs(float(np.median(before[-MIN_EVALUATIONS:]))),
            )
    return None


def _rise(curve: Curve, finite: NDArray[np.int64], at: int, step: float) -> Computed:
    """The features of the rise: where medians of LEVEL_POINTS points differ most across a point."""
    x, reach = curve.values[finite], max(LEVEL_POINTS, int(SEARCHED_SHARE * finite.size))
    start, end = max(at - reach, LEVEL_POINTS), min(at + reach, finite.size - LEVEL_POINTS)
    if end <= start:
        return {}
    windows = np.lib.stride_tricks.sliding_window_view(x, LEVEL_POINTS)[start - LEVEL_POINTS : end + 1]
    levels = np.sort(windows, axis=1)[:, LEVEL_POINTS // 2]
    before, after = levels[:-LEVEL_POINTS], levels[LEVEL_POINTS:]
    best = int(np.argmax(after - before))
    middle, low, high = start + best, float(before[best]), float(after[best])
    if not high > low:
        return {}
    calm, risen = _edges(x, middle, low, high)
    witness = witness_at(curve, int(finite[risen]))
    return {
        "train_loss_jump_points": risen - calm,
        "train_loss_jump_step": (witness.step, witness),
        "train_loss_jump_share": risen / finite.size,
        "train_loss_jump_ratio": least_ratio(high, low, step),
        "train_loss_jump_undone_share": (high - float(np.median(x[-LEVEL_POINTS:]))) / (high - low),
    }


def _edges(x: NDArray[np.float64], middle: int, low: float, high: float) -> tuple[int, int]:
    """The last value in the first quarter of the rise and the first later one in its last quarter, near its middle."""
    start = max(middle - LEVEL_POINTS, 0)
    here = (x[start : middle + LEVEL_POINTS] - low) / (high - low)
    calm = np.flatnonzero(here[:-1] < QUARTER)
    last = int(calm[-1]) if calm.size else 0
    risen = np.flatnonzero(here[last + 1 :] > 1 - QUARTER)
    return start + last, start + last + 1 + (int(risen[0]) if risen.size else here.size - last - 2)
