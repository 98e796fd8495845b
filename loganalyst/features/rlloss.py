"""Features of a loss in reinforcement learning. Its level says little, but no sound run multiplies it by millions."""

from loganalyst.features.context import Computed, Context, first_level, last_level, ratio, witness_at
from loganalyst.model import Curve, Feature
from loganalyst.thresholds import feature_limit

ROLE = "rl_loss"
FEATURES = (
    Feature("rl_loss_metric", "text", "", "the loss that grew by the largest factor, of those whose level says little", ROLE),
    Feature("rl_loss_growth", "float", "ratio", "size of its last level divided by the size of its first level", ROLE),
    Feature("rl_loss_last", "float", "loss", "its last level", ROLE),
    Feature("rl_loss_ran_away", "bool", "", "it grew further than returns can explain (false also where no such loss is logged)", "points"),
)  # fmt: skip


def compute(context: Context) -> Computed:
    """All of FEATURES; without such a loss only that none ran away."""
    known = [(growth, curve) for curve in context.with_role(ROLE) if (growth := _growth(curve)) is not None]
    if not known:
        return {"rl_loss_ran_away": False}
    growth, curve = max(known, key=lambda found: found[0])
    last = last_level(curve.values) or 0.0
    return {
        "rl_loss_metric": (curve.metric, witness_at(curve)),
        "rl_loss_growth": (growth, witness_at(curve)),
        "rl_loss_last": (last, witness_at(curve)),
        "rl_loss_ran_away": growth > feature_limit("rl_loss_growth") and abs(last) > feature_limit("rl_loss_size"),
    }


def _growth(curve: Curve) -> float | None:
    """How many times as large the last level is as the first; None where a level is not known or the first is 0."""
    first, last = first_level(curve.values), last_level(curve.values)
    return None if first is None or last is None else ratio(abs(last), abs(first))
