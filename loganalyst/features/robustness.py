"""Features of robustness: the accuracy on adversarial examples."""

from loganalyst.features.context import Computed, Context, last_level, witness_at
from loganalyst.features.shares import unit
from loganalyst.model import Feature

ROLE = "robust_accuracy"
FEATURES = (
    Feature("robust_accuracy_metric", "text", "", "lowest accuracy on adversarial examples", ROLE),
    Feature("robust_accuracy_last", "float", "share", "last level of this accuracy", ROLE),
)  # fmt: skip


def compute(context: Context) -> Computed:
    """All of FEATURES, for the curve with the lowest last level."""
    found = [(level, c) for c in context.with_role(ROLE) if (level := last_level(c.values)) is not None]
    if not found:
        return {}
    level, curve = min(found, key=lambda pair: pair[0])
    return {"robust_accuracy_metric": curve.metric, "robust_accuracy_last": (level / _unit(context), witness_at(curve))}


def _unit(context: Context) -> float:
    """What an accuracy of 1 is logged as: 100 where any accuracy of the run is in per cent."""
    curves = [c for role in (ROLE, "val_accuracy", "train_accuracy") for c in context.with_role(role)]
    return unit(*(c.values for c in curves))
