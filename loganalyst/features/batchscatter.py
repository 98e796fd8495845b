"""Whether the losses of batches scatter by more than their level, as once most batches are fitted and a few are not."""

from loganalyst.features.context import Computed, Context, ratio, witness_at
from loganalyst.model import Feature
from loganalyst.thresholds import feature_limit

FEATURES = (
    Feature("batches_scatter", "bool", "", "the noise of the training loss exceeds its last level, as where most batches are fitted and a few are not (false also without a training loss)", "run"),
)  # fmt: skip


def compute(context: Context) -> Computed:
    """All of FEATURES."""
    for curve in context.with_role("train_loss")[:1]:
        shape = context.shape(curve)
        share = ratio(shape.noise, abs(shape.last) if shape.last is not None else None)
        scatters = share is not None and share > feature_limit("batches_scatter")
        return {"batches_scatter": (scatters, witness_at(curve))}
    return {"batches_scatter": False}
