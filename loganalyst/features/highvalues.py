"""Features of single and consecutive training losses that are far above the level around them.

A stretch of high losses is some batches of the data if the loss is back at its level right after it; a disturbed model
recovers step by step.
"""

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
    Feature("train_loss_high_returned", "bool", "", "these values are an exception far beyond the noise, and the loss was back at its level right after them (losses that are finite and many)", ROLE),
)  # fmt: skip
MIN_POINTS = 30
MIN_HALF = 10  # points on each side of a value that give its local level
HALF_SHARE = 40  # of a longer curve, each side is this part of the points
MIN_LEVEL = 0.05  # of the first level: lower levels count as that much
BEFORE, AFTER = 20, 5  # losses that show the level before a stretch, and the return to it


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
        starts, ends = _stretches(ratios > feature_limit("loss_far_above_level"))
        longest = int(np.argmax(ends - starts)) if starts.size else None
        at, end = (int(starts[longest]), int(ends[longest])) if longest is not None else (0, 0)
        witness = witness_at(curve, int(finite[start + at]))
        return {
            "train_loss_late_spike_ratio": (float(ratios[top]), witness_at(curve, int(finite[start + top]))),
            "train_loss_high_points": (end - at, witness),
            "train_loss_high_step": (witness.step, witness) if end else None,
            "train_loss_high_ratio": (median(ratios[at:end]), witness) if end else None,
            "train_loss_high_returned": (_exception(ratios, starts, ends) and _returned(x, start + at, start + end))
            if finite.size == curve.values.size >= feature_limit("stretch_among")
            else None,
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


def _stretches(high: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First and end positions of the unbroken runs of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], high, [False])).astype(np.int8)))
    return edges[::2], edges[1::2]


def _exception(ratios: NDArray[np.float64], starts: NDArray[np.intp], ends: NDArray[np.intp]) -> bool:
    """Whether the longest stretch is far beyond the noise, and few values are as high."""
    long = ends - starts >= feature_limit("stretch_points")
    if not 0 < long.sum() <= feature_limit("stretch_count"):
        return False
    longest = int(np.argmax(ends - starts))
    noise = 1.4826 * median(np.abs(ratios - 1))  # of a normal distribution, from the median deviation
    beyond = median(ratios[starts[longest] : ends[longest]]) > 1 + feature_limit("stretch_noise") * noise
    return bool(beyond and (ends - starts).sum() <= feature_limit("stretch_share") * ratios.size)


def _returned(x: NDArray[np.float64], start: int, end: int) -> bool:
    """Whether the values right after a stretch are back at the level before it."""
    limit = feature_limit("stretch_return") * median(x[max(start - BEFORE, 0) : start])
    return x.size >= end + AFTER and median(x[end : end + AFTER]) <= limit
