"""The trainer that made the run, and the kind of training."""

import numpy as np

from loganalyst.curves.trainers import Trainer
from loganalyst.curves.trainingkind import training_kind
from loganalyst.features.context import Computed, Context
from loganalyst.model import Feature

# fmt: off
FEATURES = (
    Feature("trainer", "text", "", "The library or script that trained the run (an id of `rules/trainers`); NULL where none is recognised", "points"),
    Feature("training_kind", "text", "", "The kind of training, such as pretraining, preference, reinforcement, adversarial or supervised", "points"),
    Feature("training_kind_probability", "float", "share", "How probable that kind is, from 0 to 1", "points"),
    Feature("lr_peak_usual", "text", "", "The peak rate beside the range that is usual with the trainer: low, usual or high; NULL where no range is known", "learning_rate"),
)
# fmt: on


def compute(context: Context) -> Computed:
    """All of FEATURES; NULL where nothing was logged that shows them."""
    trainer = context.trainer
    kind = training_kind(context.run, {c.role.name for c in context.curves}, trainer)
    return {
        "trainer": trainer.id if trainer else None,
        "training_kind": kind.kind if kind else None,
        "training_kind_probability": kind.probability if kind else None,
        "lr_peak_usual": _against_usual(context, trainer),
    }


def _against_usual(context: Context, trainer: Trainer | None) -> str | None:
    """Where the peak of the logged rate, or the configured rate, lies beside the usual range."""
    peaks = [float(c.values[np.isfinite(c.values)].max(initial=0.0)) for c in context.with_role("learning_rate")]
    peak = max(peaks, default=context.number("learning_rate", "lr"))
    if trainer is None or peak is None or "lr_peak" not in trainer.usual:
        return None
    low, high = trainer.usual["lr_peak"]
    return "low" if peak < low else "high" if peak > high else "usual"
