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
    separate = (
        bool(scores)
        and all(_is_numbered(context, curve) and not np.isfinite(curve.epochs).any() for curve in scores)
        and all(2 * curve.values.size <= scores[0].values.size for curve in losses)
        and not last_progress(context.run).height
    )
    return {"scores_may_be_separate": separate}


def shows_no_course(context: Context, curve: Curve) -> bool:
    """Whether a job log printed its values without a step, and all of them in one epoch or in none."""
    epochs = curve.epochs[np.isfinite(curve.epochs)]
    return _is_numbered(context, curve) and np.unique(epochs).size <= 1


def _is_numbered(context: Context, curve: Curve) -> bool:
    """Whether the reader of a job log numbered the values 0, 1, 2 …, since their lines have no step."""
    numbered = np.array_equal(curve.steps, np.arange(curve.steps.size))
    return numbered and any(s.path == curve.source and s.format == "text" for s in context.run.sources)
