"""Features of single long waits for data: the loader keeps up in general but stalls now and then."""

import numpy as np
from numpy.typing import NDArray

from loganalyst.features.context import Computed, Context, event_features, witness_at
from loganalyst.model import Feature, Witness
from loganalyst.thresholds import feature_limit

NEEDS = "data time and step time"
FEATURES = (
    *event_features("data_stall", "step that spent more than half of its time waiting for data", NEEDS),
    Feature("data_stall_time_share", "float", "share", "waiting time in such steps as a share of the time of all steps", NEEDS),
    Feature("data_stall_period", "int", "points", "distance at which such steps recur, often the number of workers (needs four of them)", NEEDS),
)  # fmt: skip
MIN_STEPS = 40


def compute(context: Context) -> Computed:
    """All of FEATURES. Both times must be logged at the same steps and in the same unit: no step may wait longer than
    it takes.
    """
    waits, steps = context.with_role("data_time"), context.with_role("step_time")
    if not waits or not steps or not np.array_equal(waits[0].steps, steps[0].steps):
        return {}
    wait, step = waits[0].values, steps[0].values
    known = np.isfinite(wait) & np.isfinite(step) & (step > 0)
    if known.sum() < MIN_STEPS or (wait[known] < 0).any() or (wait[known] > step[known]).any():
        return {}
    stalls = np.flatnonzero(known & (wait > feature_limit("data_stall") * step))
    first: Witness | None = witness_at(waits[0], int(stalls[0])) if stalls.size else None
    out: Computed = {
        "data_stall_count": (int(stalls.size), first) if first else 0,
        "data_stall_time_share": float(wait[stalls].sum() / step[known].sum()),
        "data_stall_period": _period(stalls),
    }
    return out | ({"data_stall_step": (first.step, first)} if first else {})


def _period(stalls: NDArray[np.intp]) -> int | None:
    """The usual distance of stalls, at least two points; None if the distances do not fit one period."""
    distances = np.diff(stalls)
    if distances.size < feature_limit("periodic_stalls") - 1 or np.median(distances) < 2:
        return None
    period = int(np.median(distances))
    fits = (distances % period == 0) & (distances // period <= 3)
    return period if fits.mean() >= feature_limit("periodic_share") else None
