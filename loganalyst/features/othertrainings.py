"""How many trainings the files hold beside the one that is judged (`curves.severaltrainings`)."""

from loganalyst.features.context import Computed, Context
from loganalyst.model import Feature

FEATURES = (
    Feature("other_trainings", "int", "trainings", "trainings with losses of their own in the same file (folds, models), beside the judged one, which ended worst", "train_loss"),
)  # fmt: skip


def compute(context: Context) -> Computed:
    """All of FEATURES; nothing without a training loss."""
    losses = context.with_role("train_loss")
    return {"other_trainings": losses[0].beside} if losses else {}
