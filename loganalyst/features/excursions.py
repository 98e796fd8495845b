"""Features of excursions: stretches of training losses far above the level before and after them."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from loganalyst.features.context import Computed, Context, median, witness_at
from loganalyst.model import Feature
from loganalyst.thresholds import feature_limit

ROLE = "train_loss"
MIN_POINTS = 200  # losses; a stretch is short only compared with many
LEVELS = 40  # stretches of the run with a level each
BEFORE, AFTER = 20, 5  # losses that show the level before a stretch, and the return to it
FEATURES = (
    Feature("excursion_count", "int", "events", "stretches of neighbouring training losses far above the level around them, which begin and end at once (0 = none found)", ROLE),
    Feature("excursion_step", "int", "step", "first step of the longest such stretch", ROLE),
    Feature("excursion_points", "int", "points", "losses of this stretch", ROLE),
    Feature("excursion_ratio", "float", "ratio", "median of this stretch divided by the level around it", ROLE),
)  # fmt: skip


def compute(context: Context) -> Computed:
    """All of FEATURES; not known for few, non-finite or negative losses."""
    curve = next(iter(context.with_role(ROLE)), None)
    if curve is None or curve.values.size < MIN_POINTS:
        return {}
    x = curve.values
    if not np.isfinite(x).all() or x.min() <= 0:
        return {}
    over = x / _level(x)
    noise = 1.4826 * median(np.abs(over - 1))  # of a normal distribution, from the median deviation
    high = over > 1 + max(feature_limit("excursion") - 1, feature_limit("excursion_noise") * noise)
    high[: x.size // 5] = False  # where a loss still falls steeply
    starts, ends = _runs(high)
    passed = np.array([_returned(x, a, b) for a, b in zip(starts, ends, strict=True)], dtype=bool)
    passed &= ends - starts >= feature_limit("excursion_points")
    if not passed.any() or high.mean() > feature_limit("excursion_share"):
        return {"excursion_count": 0}
    starts, ends = starts[passed], ends[passed]
    at = int(np.argmax(ends - starts))
    witness = witness_at(curve, int(starts[at]))
    return {
        "excursion_count": (int(starts.size), witness),
        "excursion_step": (witness.step, witness),
        "excursion_points": (int(ends[at] - starts[at]), witness),
        "excursion_ratio": (median(over[starts[at] : ends[at]]), witness),
    }


def _returned(x: NDArray[np.float64], start: int, end: int) -> bool:
    """Whether the values right after a stretch are back at the level before it."""
    after = x[end : end + AFTER]
    return after.size == AFTER and median(after) <= feature_limit("excursion_return") * median(
        x[start - BEFORE : start]
    )


def _level(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """The medians of equal stretches, joined by straight lines."""
    edges = np.linspace(0, x.size, LEVELS + 1).astype(int)
    levels = [median(x[a:b]) for a, b in pairwise(edges)]
    return np.interp(np.arange(x.size), (edges[:-1] + edges[1:]) / 2, levels)


def _runs(high: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First and end positions of the stretches that are high."""
    change = np.diff(np.concatenate(([0], high.astype(np.int8), [0])))
    return np.flatnonzero(change == 1), np.flatnonzero(change == -1)
