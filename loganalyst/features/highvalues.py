"""Features of single and consecutive training losses that are far above the level around them."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.features.context import Computed, Context, median, witness_at
from loganalyst.model import Feature
from loganalyst.thresholds import feature_limit

ROLE = "train_loss"
FEATURES = (
    Feature("train_loss_late_spike_ratio", "float", "ratio", "largest value after the first fifth of the points divided by its local level (losses that are never negative)", ROLE),
    Feature("train_loss_high_points", "int", "points", "most consecutive values after the first fifth that are far above their local level (losses that are never negative)", ROLE),
    Feature("train_loss_high_step", "int", "step", "step of the first of these values", ROLE),
    Feature("train_loss_high_ratio", "float", "ratio", "median of these values, divided by their local level", ROLE),
)  # fmt: skip
MIN_POINTS = 30
MIN_HALF = 10  # points on each side of a value that give its local level
HALF_SHARE = 40  # of a longer curve, each side is this part of the points
MIN_LEVEL = 0.05  # of the first level: lower levels count as that much


def compute(context: Context) -> Computed:
    """All of FEATURES; nothing for a short loss, or for one that is negative somewhere."""
    for curve in context.with_role(ROLE)[:1]:
        finite = np.flatnonzero(np.isfinite(curve.values))
        x = curve.values[finite]
        first = median(x[: max(3, x.size // 20)]) if x.size >= MIN_POINTS else 0.0
        if first <= 0 or x.min() < 0:
            return {}
        start, ratios = _relative(x, first, context.quantum(curve))
        top = int(np.argmax(ratios))
        at, points = _longest(ratios > feature_limit("loss_far_above_level"))
        witness = witness_at(curve, int(finite[start + at]))
        return {
            "train_loss_late_spike_ratio": (float(ratios[top]), witness_at(curve, int(finite[start + top]))),
            "train_loss_high_points": (points, witness),
            "train_loss_high_step": (witness.step, witness) if points else None,
            "train_loss_high_ratio": (median(ratios[at : at + points]), witness) if points else None,
        }
    return {}


def _relative(x: NDArray[np.float64], first: float, step: float) -> tuple[int, NDArray[np.float64]]:
    """The values after the first fifth divided by the median of a twentieth of the values around each (21 at least),
    and the position of the first of them.

    Relative to almost nothing every value is large, so that lower levels than a twentieth of the `first` count as that
    much. Values that were rounded to a `step` count as far apart as they at least were.
    """
    half = max(MIN_HALF, x.size // HALF_SHARE)
    after = max(x.size // 5 - half, 0)
    local = pl.Series(x[after:]).rolling_median(2 * half + 1)[2 * half :].to_numpy()
    return after + half, (x[after + half : -half] - step / 2) / np.maximum(local + step / 2, MIN_LEVEL * first)


def _longest(high: NDArray[np.bool_]) -> tuple[int, int]:
    """Position and length of the longest unbroken run of true values; the first of equals."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], high, [False])).astype(np.int8)))
    starts, lengths = edges[::2], edges[1::2] - edges[::2]
    longest = int(np.argmax(lengths)) if lengths.size else 0
    return (int(starts[longest]), int(lengths[longest])) if lengths.size else (0, 0)
