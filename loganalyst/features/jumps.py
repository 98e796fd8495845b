"""Features of the place where the training loss went up: at once or slowly, and what it did afterwards."""

import numpy as np
from numpy.typing import NDArray

from loganalyst.curves import axes
from loganalyst.features.context import Computed, Context, ratio, seen
from loganalyst.model import Curve, Feature

ROLE = "train_loss"
FEATURES = (
    Feature("train_loss_jump_points", "int", "points", "points that the largest lasting rise of the training loss took from a quarter to three quarters of its height (1 = all at once)", ROLE),
    Feature("train_loss_jump_step", "int", "step", "step of the first point after this rise", ROLE),
    Feature("train_loss_jump_share", "float", "share", "position of this rise in the run (0 = start, 1 = end)", ROLE),
    Feature("train_loss_jump_ratio", "float", "ratio", "level after this rise divided by the level before it", ROLE),
    Feature("val_change_since_jump", "float", "share", "relative change of the held-out loss from right before this rise to the end (below 0: it continued to fall)", "val_loss"),
    Feature("train_loss_jump_undone_share", "float", "share", "share of this rise that training undid by the end", ROLE),
)  # fmt: skip
KINDS = ("divergence", "level_up")
EVALUATIONS = 3
WINDOW = 7  # points of a level beside the rise
QUARTER = 0.25
REACH = 0.1  # of the curve, to both sides of where the rise was found


def compute(context: Context) -> Computed:
    """All of FEATURES, of the rise found first; nothing where none was."""
    curves = context.of(ROLE)
    found = context.found(KINDS, ROLE)
    if not curves or not found.height:
        return {}
    curve, at = curves[0], int(np.searchsorted(curves[0].steps, found["step"][0]))
    finite = np.flatnonzero(np.isfinite(curve.values))
    out = _rise(curve, finite, int(np.searchsorted(finite, at)))
    place = out.get("train_loss_jump_step")
    if not isinstance(place, tuple) or place[1].step is None:
        return out
    return out | {"val_change_since_jump": _since(context, curve, place[1].step)}


def _since(context: Context, curve: Curve, step: int) -> float | None:
    """Medians of three evaluations, where there are so many on both sides."""
    for held_out in context.of("val_loss")[:1]:
        ours, theirs = axes.common(curve, held_out, context.of("epoch"))
        place = float(np.interp(step, curve.steps, ours))
        before, after = held_out.values[theirs < place], held_out.values[theirs >= place]
        if min(before.size, after.size) >= EVALUATIONS:
            return ratio(
                float(np.median(after[-EVALUATIONS:]) - np.median(before[-EVALUATIONS:])),
                abs(float(np.median(before[-EVALUATIONS:]))),
            )
    return None


def _rise(curve: Curve, finite: NDArray[np.int64], at: int) -> Computed:
    """Levels are medians of WINDOW points; the rise is where they differ most across a point."""
    x, reach = curve.values[finite], max(WINDOW, int(REACH * finite.size))
    start, end = max(at - reach, WINDOW), min(at + reach, finite.size - WINDOW)
    if end <= start:
        return {}
    windows = np.lib.stride_tricks.sliding_window_view(x, WINDOW)[start - WINDOW : end + 1]
    levels = np.sort(windows, axis=1)[:, WINDOW // 2]
    before, after = levels[:-WINDOW], levels[WINDOW:]
    best = int(np.argmax(after - before))
    middle, low, high = start + best, float(before[best]), float(after[best])
    if not high > low:
        return {}
    calm, risen = _edges(x, middle, low, high)
    witness = seen(curve, int(finite[risen]))
    return {
        "train_loss_jump_points": risen - calm,
        "train_loss_jump_step": (witness.step, witness),
        "train_loss_jump_share": risen / finite.size,
        "train_loss_jump_ratio": high / low if low > 0 else None,
        "train_loss_jump_undone_share": (high - float(np.median(x[-WINDOW:]))) / (high - low),
    }


def _edges(x: NDArray[np.float64], middle: int, low: float, high: float) -> tuple[int, int]:
    """The last value below the first quarter of the rise, and the first one behind it above the third, around its middle."""
    start = max(middle - WINDOW, 0)
    here = (x[start : middle + WINDOW] - low) / (high - low)
    calm = np.flatnonzero(here[:-1] < QUARTER)
    last = int(calm[-1]) if calm.size else 0
    risen = np.flatnonzero(here[last + 1 :] > 1 - QUARTER)
    return start + last, start + last + 1 + (int(risen[0]) if risen.size else here.size - last - 2)
