"""Whether the training loss repeats itself digit for digit: the same batches, and weights that do not move."""

import numpy as np
from numpy.typing import NDArray

from loganalyst.features.context import Computed, Context, tau, witness_at
from loganalyst.model import Feature
from loganalyst.thresholds import feature_limit

ROLE = "train_loss"
MIN_DISTINCT = 4  # different values in one pass; rounded values repeat by chance
MIN_PASSES = 3
MAX_TRIED = 50  # periods that are compared in full

FEATURES = (
    Feature("train_loss_repeat_period", "int", "points", "number of values after which the whole training loss repeats itself digit for digit", ROLE),
    Feature("train_loss_repeat_count", "int", "passes", "how often it runs through these values (0: it does not repeat itself)", ROLE),
)  # fmt: skip


def compute(context: Context) -> Computed:
    """All of FEATURES; nothing where no training loss is logged."""
    for curve in context.with_role(ROLE)[:1]:
        period = repeat_period(curve.values)
        if not period:
            return {"train_loss_repeat_count": 0}
        witness = witness_at(curve, period)
        return {
            "train_loss_repeat_period": (period, witness),
            "train_loss_repeat_count": (len(curve.values) // period, witness),
        }
    return {}


def repeat_period(values: NDArray[np.float64]) -> int:
    """The number of values after which all repeat exactly, at least twice; 0 if they do not, or if a pass has a trend.

    >>> repeat_period(np.tile([0.97, 1.37, 1.24, 1.04, 1.17], 4))
    5
    """
    longest = values.size // MIN_PASSES
    if longest < MIN_DISTINCT or not np.isfinite(values).all():
        return 0
    pairs = (values[MIN_DISTINCT : longest + 1] == values[0]) & (values[MIN_DISTINCT + 1 : longest + 2] == values[1])
    for period in (np.flatnonzero(pairs)[:MAX_TRIED] + MIN_DISTINCT).tolist():
        one = values[:period]
        if np.array_equal(values[period:], values[:-period]):
            trend = tau(one, MIN_DISTINCT)
            varied = np.unique(one).size >= MIN_DISTINCT
            alike = varied and trend is not None and abs(trend) < feature_limit("passes_alike_trend")
            return int(period) if alike else 0
    return 0
