"""Features of a held-out loss that was thrown far for one evaluation and came back."""

import numpy as np

from loganalyst.features.context import Computed, Context, median, witness_at
from loganalyst.model import Feature

FEATURES = (
    Feature("val_loss_peak_ratio", "float", "ratio", "largest held-out loss behind the first one divided by the median of the values around it (losses above 0 with ten values or more)", "val_loss"),
    Feature("val_loss_peak_metric", "text", "", "the held-out loss that has it", "val_loss"),
    Feature("val_loss_peak_step", "int", "step", "its step", "val_loss"),
)  # fmt: skip
MIN_POINTS = 10
BESIDE = 4  # values on each side that show the level


def compute(context: Context) -> Computed:
    """All of FEATURES; nothing for a short loss, or for one that is 0 or negative somewhere."""
    for curve in context.with_role("val_loss")[:1]:
        finite = np.flatnonzero(np.isfinite(curve.values))
        x = curve.values[finite]
        if x.size < MIN_POINTS or x.min() <= 0:
            return {}
        top = 1 + int(np.argmax(x[1:]))  # a first value is high because little was learned
        around = np.concatenate([x[max(top - BESIDE, 0) : top], x[top + 1 : top + 1 + BESIDE]])
        witness = witness_at(curve, int(finite[top]))
        return {
            "val_loss_peak_ratio": (float(x[top]) / median(around), witness),
            "val_loss_peak_metric": curve.metric,
            "val_loss_peak_step": (witness.step, witness),
        }
    return {}
