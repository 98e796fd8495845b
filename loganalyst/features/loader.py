"""Features of single long waits for data: the loader that keeps up on the whole and stalls now and then."""

import numpy as np
from numpy.typing import NDArray

from loganalyst.features.context import Computed, Context, event_features, witness_at
from loganalyst.model import Feature, Witness

NEEDS = "a data time beside a step time"
FEATURES = (
    *event_features("data_stall", "step that spent more than half of its time waiting for data", NEEDS),
    Feature("data_stall_time_share", "float", "share", "waiting time in such steps as a share of the time of all steps", NEEDS),
    Feature("data_stall_period", "int", "points", "distance at which such steps recur, often the number of workers (needs four of them)", NEEDS),
)  # fmt: skip
FEWEST = 40  # steps
RECUR = 4  # stalls that show a period
REGULAR = 0.7  # share of the distances that are one, two or three periods


def compute(context: Context) -> Computed:
    """All of FEATURES; only where both were logged at the same steps, in the same unit: no step waits longer than it takes."""
    waits, steps = context.with_role("data_time"), context.with_role("step_time")
    if not waits or not steps or not np.array_equal(waits[0].steps, steps[0].steps):
        return {}
    wait, step = waits[0].values, steps[0].values
    some = np.isfinite(wait) & np.isfinite(step) & (step > 0)
    if some.sum() < FEWEST or (wait[some] < 0).any() or (wait[some] > step[some]).any():
        return {}
    stalls = np.flatnonzero(some & (wait > step / 2))
    first: Witness | None = witness_at(waits[0], int(stalls[0])) if stalls.size else None
    out: Computed = {
        "data_stall_count": (int(stalls.size), first) if first else 0,
        "data_stall_time_share": float(wait[stalls].sum() / step[some].sum()),
        "data_stall_period": _period(stalls),
    }
    return out | ({"data_stall_step": (first.step, first)} if first else {})


def _period(stalls: NDArray[np.intp]) -> int | None:
    """The usual distance, of two points at least; None where the distances do not fit one."""
    apart = np.diff(stalls)
    if apart.size < RECUR - 1 or np.median(apart) < 2:
        return None
    period = int(np.median(apart))
    fits = (apart % period == 0) & (apart // period <= 3)
    return period if fits.mean() >= REGULAR else None
