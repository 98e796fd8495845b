"""Features of the objectives: did the reward, a score, a loss or an accuracy get better?"""

from collections.abc import Sequence

import numpy as np

from loganalyst.features.beginning import begins_late
from loganalyst.features.context import Computed, Context, minus, tau, witness_at
from loganalyst.features.judgedscores import scores
from loganalyst.features.shares import share
from loganalyst.model import Curve, Feature
from loganalyst.signals.standarderror import change_z, since_z, whole_z
from loganalyst.thresholds import feature_limit

FEATURES = (
    Feature("objective_improved", "bool", "", "reward, held-out score, held-out loss, training loss, reconstruction term, distance of samples or training accuracy got better by more than three standard errors from the first tenth to the last third, or for a loss from its first three values (NULL: none has six values, or none did in a log that starts late in the run)", "a loss, score or reward"),
    Feature("objective_best_z", "float", "standard errors", "the largest of these improvements", "a loss, score or reward"),
    Feature("objective_best_metric", "text", "", "the metric that improved most", "a loss, score or reward"),
    Feature("part_fell", "bool", "", "the reconstruction term or a held-out loss fell by a fifth or more and by more than three standard errors (false: none did, or none is logged)", "a loss, score or reward"),
    Feature("objective_known", "bool", "", "one of these metrics is logged", "a loss, score or reward"),
    Feature("objective_names", "text", "", "what these metrics are, such as `loss or score`", "a loss, score or reward"),
    Feature("objective_points", "int", "points", "values of the longest of these metrics", "a loss, score or reward"),
    Feature("objective_steady", "bool", "", "one of these metrics has six to 29 values, and almost each is better than the one before (false: none has, or none is logged)", "a loss, score or reward"),
    Feature("objective_ends_best", "bool", "", "one of these metrics has three to five values, of which the last is the best (a loss may end near it after a far fall), and better than the first (false: none has, or none is logged)", "a loss, score or reward"),
    Feature("score_improved", "bool", "", "a reward or held-out score got better by more than three standard errors and did not fall from its best by as much (false: none is logged)", "a loss, score or reward"),
)  # fmt: skip

MIN_STEADY_POINTS = 6  # values of which chance orders one in 720 sequences
MIN_FEW_POINTS, FEW_POINTS = 3, 30
LOSSES = ("val_loss", "val_loss_component", "train_loss", "recon_loss", "sample_distance")
# what a report calls a role; the others are losses
NAMES = {
    "reward": "reward",
    "success_rate": "success rate",
    "skill_rating": "rating",
    "sample_distance": "distance of samples",
    "val_error_rate": "error rate",
}


def compute(context: Context) -> Computed:
    """All of FEATURES; only that none is known where no objective is logged."""
    # in self-play the rating counts: against an equal opponent, a better policy wins no more often
    wins = context.with_role("skill_rating") or context.with_role("success_rate")
    good = [*context.with_role("reward"), *wins, *scores(context)]
    terms = () if context.with_role("train_loss") else context.with_role("loss_component")
    curves = [*good, *context.with_role(*LOSSES, "train_accuracy"), *terms]
    if not curves:
        return {"objective_known": False, "objective_steady": False, "objective_ends_best": False}
    out: Computed = {
        "objective_known": True,
        "objective_names": _names(curves),
        "objective_points": max(len(c.values) for c in curves),
        "score_improved": any(_kept(curve) for curve in good),
        "objective_steady": any(_steady(curve) for curve in curves),
        "objective_ends_best": any(_ends_best(curve) for curve in curves),
        "part_fell": any(_fell(curve) for curve in context.with_role("recon_loss", "val_loss")),
    }
    known = [(z, curve) for curve in curves if (z := _improvement(curve)) is not None]
    if not known:
        return out
    best, curve = max(known, key=lambda pair: pair[0])
    improved = best > feature_limit("significant_gain")
    if not improved and all(begins_late(curve) for _, curve in known):
        return out
    return out | {
        "objective_improved": improved,
        "objective_best_z": (best, witness_at(curve)),
        "objective_best_metric": curve.metric,
    }


def _names(curves: Sequence[Curve]) -> str:
    """What the objectives are, each named once: `loss, score or reward`."""
    named = [NAMES.get(c.role.name, "score" if c.role.worse == "down" else "loss") for c in curves]
    *others, last = sorted(set(named))
    return f"{', '.join(others)} or {last}" if others else last


def _improvement(curve: Curve) -> float | None:
    """The change for the better in standard errors. A loss may have fallen within its first tenth and risen again, so
    the first values count too.
    """
    z = whole_z(curve.values)
    if z is None or curve.role.worse == "down":
        return z
    from_first = change_z(curve.values, (0.0, 0.0), (2 / 3, 1.0))
    return minus(z if from_first is None else min(z, from_first))


def _steady(curve: Curve) -> bool:
    """Whether few values get better almost from one to the next, for which chance has odds of one in several hundred."""
    if not MIN_STEADY_POINTS <= len(curve.values) < FEW_POINTS:
        return False
    trend = tau(curve.values, MIN_STEADY_POINTS)
    return trend is not None and (trend if curve.role.worse == "down" else -trend) > feature_limit("steady_trend")


def _ends_best(curve: Curve) -> bool:
    """Whether very few values end at their best, which is all that they can show; or a loss near it, after a far fall."""
    values = curve.values[np.isfinite(curve.values)]
    if not MIN_FEW_POINTS <= values.size < MIN_STEADY_POINTS:
        return False
    best = values.max() if curve.role.worse == "down" else values.min()
    first, last = values[0], values[-1]
    if curve.role.worse != "down" and 0 < last <= (1 - feature_limit("far_fall_of_a_part")) * first:
        return bool(first - last >= feature_limit("few_values_kept") * (first - best))
    return bool(last == best != first)


def _fell(curve: Curve) -> bool:
    """Whether a loss above 0 fell far from its first tenth to its last."""
    z, values = whole_z(curve.values), curve.values[np.isfinite(curve.values)]
    tenth = -(-values.size // 10)
    if z is None or z >= -feature_limit("significant_gain"):
        return False
    first, last = float(np.median(values[:tenth])), float(np.median(values[-tenth:]))
    return first > 0 and last <= (1 - feature_limit("far_fall_of_a_part")) * first


def _kept(curve: Curve) -> bool:
    """Whether the score rose, and did not fall significantly from its best."""
    values = share(curve) if curve.role.worse == "up" else curve.values
    rise = whole_z(values)
    if rise is None or rise <= feature_limit("significant_gain"):
        return False
    fall = since_z(values, int(np.nanargmax(values)))
    return fall is not None and fall > -feature_limit("significant_gain")
