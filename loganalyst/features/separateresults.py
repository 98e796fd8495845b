"""Whether scores are results of separate experiments: folds, settings or classes, not the course of one training."""

import numpy as np

from loganalyst.features.context import Computed, Context
from loganalyst.features.progress import last_progress
from loganalyst.model import Curve, Feature

FEATURES = (
    Feature("scores_may_be_separate", "bool", "", "job logs print scores without a step or an epoch, and no loss with as many values: they may be results of separate experiments", "run"),
)  # fmt: skip
_SCORES = ("train_accuracy", "val_accuracy", "val_score", "val_error_rate")
_LOSSES = ("train_loss", "val_loss", "rl_loss", "generator_loss", "discriminator_loss", "reward")


def compute(context: Context) -> Computed:
    """All of FEATURES."""
    scores, losses = context.with_role(*_SCORES), context.with_role(*_LOSSES)
    logs = {source.path for source in context.run.sources if source.format == "text"}
    separate = (
        bool(scores)
        and all(curve.source in logs and _has_no_step(curve) for curve in scores)
        and all(2 * curve.values.size <= scores[0].values.size for curve in losses)
        and not last_progress(context.run).height
    )
    return {"scores_may_be_separate": separate}


def _has_no_step(curve: Curve) -> bool:
    """Whether the reader numbered the values 0, 1, 2 …, since their lines have no step and no epoch."""
    return np.array_equal(curve.steps, np.arange(curve.steps.size)) and not np.isfinite(curve.epochs).any()
