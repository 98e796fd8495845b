"""Whether a training loss stays far below its first level, so that spikes of many times its level cost nothing."""

import numpy as np

from loganalyst.features.beginning import begins_late
from loganalyst.features.context import Computed, Context, first_level, witness_at
from loganalyst.model import Feature
from loganalyst.thresholds import feature_limit

FEATURES = (
    Feature("train_loss_stays_low", "bool", "", "each value after the first third of the training loss is below a tenth of its first level", "train_loss"),
)  # fmt: skip


def compute(context: Context) -> Computed:
    """All of FEATURES; nothing without a training loss."""
    for curve in context.with_role("train_loss")[:1]:
        finite = curve.values[np.isfinite(curve.values)]
        first, late = first_level(finite), finite[finite.size // 3 :]
        low = first is not None and bool((late < feature_limit("loss_low") * first).all()) and not begins_late(curve)
        return {"train_loss_stays_low": (low, witness_at(curve))}
    return {}
