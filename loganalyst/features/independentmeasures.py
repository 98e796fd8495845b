"""Features of measures that judge a trained policy without its reward: win rates, benchmarks, scores of a second judge."""

from typing import NamedTuple

import numpy as np

from loganalyst import signals
from loganalyst.curves.metricnames import normalise
from loganalyst.curves.rolefile import role_file
from loganalyst.features.context import Computed, Context, ratio, tau, witness_at
from loganalyst.features.judgedscores import is_one_sided
from loganalyst.features.tasks import is_benchmark
from loganalyst.model import Curve, Feature
from loganalyst.signals.standarderror import since_z

NEEDS = "independent measure"
ROLES = ("val_score", "val_accuracy")
SOLVED, REFERENCE = "success_rate", "reference_kl"
UNKNOWN, UNNAMED = "other", "train_accuracy"
MIN_POINTS, MIN_LEVEL_POINTS = 3, 6  # values of a measure; values from which levels stand for single ones

FEATURES = (
    Feature("independent_metric", "text", "", "win rate, held-out score or score of a second judge that fell most while there is a reward", NEEDS),
    Feature("independent_points", "int", "points", "its logged values", NEEDS),
    Feature("independent_best", "float", "score", "its highest level", NEEDS),
    Feature("independent_last", "float", "score", "its last level", NEEDS),
    Feature("independent_best_step", "int", "step", "step at which it was highest", NEEDS),
    Feature("independent_fall_share", "float", "share", "its fall from the highest to the last level as a share of the highest", NEEDS),
    Feature("independent_fall_z", "float", "standard errors", "the same change in standard errors (negative = fell)", NEEDS),
    Feature("independent_trend", "float", "", "Kendall's tau of its values from the highest one on against time (-1 = each value is lower than all before)", NEEDS),
    Feature("independent_count", "int", "measures", "independent measures with at least three values", NEEDS),
)  # fmt: skip


class _Fall(NamedTuple):
    """The change of a measure from its highest level, at a position, to its last level."""

    curve: Curve
    best: int
    highest: float
    last: float

    @property
    def share(self) -> float:
        return ratio(self.highest - self.last, abs(self.highest)) or 0.0


def compute(context: Context) -> Computed:
    """All of FEATURES, if a reward and another measure are logged."""
    reward = context.main_reward()
    if reward is None or reward.role.name == SOLVED:
        return {}
    falls = [_fall(c) for c in _measures(context) if np.isfinite(c.values).sum() >= MIN_POINTS]
    if not falls:
        return {}
    fall = max(falls, key=lambda fall: fall.share)
    best, x = witness_at(fall.curve, fall.best), fall.curve.values
    return {
        "independent_metric": (fall.curve.metric, best),
        "independent_points": int(np.isfinite(x).sum()),
        "independent_best": (fall.highest, best),
        "independent_last": fall.last,
        "independent_best_step": (best.step, best),
        "independent_fall_share": (fall.share, best),
        "independent_fall_z": (since_z(x, fall.best), best),
        "independent_trend": tau(x[fall.best :], MIN_POINTS),
        "independent_count": len(falls),
    }


def _measures(context: Context) -> list[Curve]:
    """Measures of another judge than the reward. Precision and recall can be traded for each other and are none. The
    success rate of an agent without a reference model follows from the reward of its environment.
    """
    words = role_file().words["judge"]
    judged = [c for c in context.with_role(UNKNOWN) if not words.isdisjoint(normalise(c.metric).split("_"))]
    tested = [c for c in context.with_role(UNNAMED) if is_benchmark(c)]
    won = context.with_role(SOLVED) if context.with_role(REFERENCE) else []
    return [c for c in [*won, *context.with_role(*ROLES), *judged, *tested] if not is_one_sided(c)]


def _fall(curve: Curve) -> _Fall:
    x = curve.values
    known = np.flatnonzero(np.isfinite(x))
    shape = signals.shape(-x)
    if known.size >= MIN_LEVEL_POINTS and shape.best is not None and shape.last is not None:
        return _Fall(curve, shape.best_index or 0, -shape.best, -shape.last)
    at = int(known[np.argmax(x[known])])
    return _Fall(curve, at, float(x[at]), float(x[known[-1]]))
