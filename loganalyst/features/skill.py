"""How far a held-out score is above that of a constant answer, for scores of which a constant answer's is known.

A constant answer has an R², a correlation, a Cohen's kappa and an MCC of 0, and an area under the ROC curve of 1/2.
Source: Murphy 1988, Skill scores based on the mean square error, Monthly Weather Review 116.
"""

import numpy as np
from numpy.typing import NDArray

from loganalyst.curves.metricnames import score_of_chance
from loganalyst.features.context import Computed, Context, witness_at
from loganalyst.features.shares import as_shares, unit
from loganalyst.model import Curve, Feature
from loganalyst.thresholds import feature_limit

NEEDS = "a held-out R², kappa, MCC, correlation or AUC"
FEATURES = (
    Feature("val_skill_metric", "text", "", "held-out score that is 0 or 1/2 for a constant answer: R², kappa, MCC, correlation, AUC", NEEDS),
    Feature("val_skill_points", "int", "points", "its values", NEEDS),
    Feature("val_skill_score", "float", "score", "its highest value", NEEDS),
    Feature("val_skill_of_chance", "float", "score", "what a constant answer reaches, in the same unit", NEEDS),
    Feature("val_skill_best", "float", "share", "its highest value, as a share of the way from a constant answer (0) to the best possible one (1); below 0 it is worse than a constant answer", NEEDS),
)  # fmt: skip


def compute(context: Context) -> Computed:
    """All of FEATURES for the score with the highest share; nothing without such a score."""
    found = [(skill.max(), c, skill) for c in context.with_role("val_score") if (skill := _skill(c)).size]
    if not found:
        return {}
    best, curve, skill = max(found, key=lambda f: f[0])
    at = int(np.flatnonzero(np.isfinite(curve.values))[int(np.argmax(skill))])
    witness = witness_at(curve, at)
    return {
        "val_skill_metric": (curve.metric, witness),
        "val_skill_points": skill.size,
        "val_skill_score": (float(curve.values[at]), witness),
        "val_skill_of_chance": (score_of_chance(curve.metric) or 0.0) * unit(curve.values),
        "val_skill_best": (float(best), witness),
    }


def _skill(curve: Curve) -> NDArray[np.float64]:
    """The finite values as shares of the way to 1; empty for a score of which a constant answer's is not known.

    An area that stays far below 1/2 is one under another curve, such as MMPose's, over the distance of key points.
    """
    chance = score_of_chance(curve.metric)
    values = curve.values[np.isfinite(curve.values)]
    if chance is None or not values.size:
        return np.empty(0)
    skill: NDArray[np.float64] = (as_shares(values) - chance) / (1 - chance)
    of_another_curve = chance > 0 and skill.max() < -feature_limit("area_below_chance")
    return np.empty(0) if of_another_curve else skill
