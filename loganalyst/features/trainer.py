"""The trainer that made the run, and the kind of training."""

from loganalyst.curves.trainingkind import usual_range
from loganalyst.features.context import Computed, Context
from loganalyst.features.schedule import peak_rate
from loganalyst.model import Feature

# fmt: off
FEATURES = (
    Feature("trainer", "text", "", "The library or script that trained the run (an id of `rules/trainers`); NULL where none is recognised", "points"),
    Feature("training_kind", "text", "", "The kind of training, such as pretraining, preference, reinforcement, adversarial or supervised", "points"),
    Feature("training_boosts", "bool", "", "the kind of training is boosting; false where the kind is not known", "points"),
    Feature("training_kind_probability", "float", "share", "How probable that kind is, from 0 to 1", "points"),
    Feature("lr_peak_usual", "text", "", "The peak rate beside the range that is usual with the trainer, or for a sure kind of training: low, usual or high; NULL where no range is known", "learning_rate"),
    Feature("trainer_clip", "float", "norm", "The norm at which the trainer clips gradients where no setting says otherwise; NULL where it does not, or where that is not known", "points"),
)
# fmt: on


def compute(context: Context) -> Computed:
    """All of FEATURES; NULL where nothing was logged that shows them."""
    trainer, kind = context.trainer, context.training_kind
    return {
        "trainer": trainer.id if trainer else None,
        "training_kind": kind.kind if kind else None,
        "training_boosts": kind is not None and kind.kind == "boosting",
        "training_kind_probability": kind.probability if kind else None,
        "lr_peak_usual": _against_usual(context),
        "trainer_clip": trainer.clips if trainer else None,
    }


def _against_usual(context: Context) -> str | None:
    """Where the peak of the rate lies beside the usual range."""
    peak = peak_rate(context)
    usual = _usual_rates(context)
    if peak is None or usual is None:
        return None
    low, high = usual
    return "low" if peak < low else "high" if peak > high else "usual"


def _usual_rates(context: Context) -> tuple[float, float] | None:
    """The range of rates that is usual with the trainer, else for the kind of training if that is sure."""
    if context.trainer is not None and "lr_peak" in context.trainer.usual:
        return context.trainer.usual["lr_peak"]
    kind = context.training_kind
    return usual_range(kind.kind, "lr_peak") if kind is not None and kind.sure else None
