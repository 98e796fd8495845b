"""Whether a training loss with few values rose so far that its scatter cannot explain it."""

import numpy as np
from numpy.typing import NDArray

from loganalyst.features.context import Computed, Context, witness_at
from loganalyst.model import Feature

ROLE = "train_loss"
MIN_BEFORE, MIN_AFTER = 2, 3  # values up to the lowest one, and after it

FEATURES = (
    Feature("train_loss_clear_rise_ratio", "float", "ratio", "smallest value after the lowest one, divided by the larger of the lowest and the one before it (positive losses with at least three values after their lowest)", ROLE),
)  # fmt: skip


def compute(context: Context) -> Computed:
    """All of FEATURES; nothing where no training loss is logged."""
    for curve in context.with_role(ROLE)[:1]:
        finite = np.flatnonzero(np.isfinite(curve.values))
        found = clear_rise(curve.values[finite])
        if found is not None:
            at, rise = found
            return {"train_loss_clear_rise_ratio": (rise, witness_at(curve, int(finite[at])))}
    return {}


def clear_rise(values: NDArray[np.float64]) -> tuple[int, float] | None:
    """Position of the lowest of finite values, and by which factor all later values exceed it and its predecessor.

    >>> clear_rise(np.array([2.0, 1.5, 5.0, 6.5, 5.5]))
    (1, 2.5)
    """
    if values.size < MIN_BEFORE + MIN_AFTER or values.min() <= 0:
        return None
    lowest = int(np.argmin(values))
    before, after = values[max(lowest - 1, 0) : lowest + 1], values[lowest + 1 :]
    if before.size < MIN_BEFORE or after.size < MIN_AFTER:
        return None
    return lowest, float(after.min() / before.max())
