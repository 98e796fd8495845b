"""How much of its fall a held-out loss gave back by the end: a rise that looks large beside the lowest value may be
small beside what the model learned.
"""

import numpy as np

from loganalyst.features.context import Computed, Context, witness_at
from loganalyst.features.validation import worst_loss
from loganalyst.model import Feature

FEATURES = (
    Feature("val_loss_given_back", "float", "share", "rise of the held-out loss after its lowest level, as a share of its fall from the first logged value to that level (1: it ended at its first value, or above)", "val_loss"),
)  # fmt: skip


def compute(context: Context) -> Computed:
    """All of FEATURES; nothing without a held-out loss."""
    found = worst_loss(context)
    if found is None:
        return {}
    curve, gap = found
    shape = context.shape(curve)
    finite = curve.values[np.isfinite(curve.values)]
    if shape.best is None or shape.last is None or not finite.size:
        return {}
    fall, rise = float(finite[0]) - shape.best, max(shape.last - shape.best, 0.0)
    return {"val_loss_given_back": (rise / fall if rise < fall else 1.0, witness_at(curve, gap.best_index))}
