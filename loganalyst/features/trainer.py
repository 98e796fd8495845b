"""The trainer that made the run, and the kind of training."""

from loganalyst.features.context import Computed, Context
from loganalyst.features.schedule import peak_rate
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
    trainer, kind = context.trainer, context.training_kind
    return {
        "trainer": trainer.id if trainer else None,
        "training_kind": kind.kind if kind else None,
        "training_kind_probability": kind.probability if kind else None,
        "lr_peak_usual": _against_usual(context),
    }


def _against_usual(context: Context) -> str | None:
    """Where the peak of the rate lies beside the range that is usual with the trainer."""
    peak = peak_rate(context)
    if context.trainer is None or peak is None or "lr_peak" not in context.trainer.usual:
        return None
    low, high = context.trainer.usual["lr_peak"]
    return "low" if peak < low else "high" if peak > high else "usual"
