"""Features of the data a policy learns from: values, advantages, the length of episodes, exploration."""

import re

import numpy as np

from loganalyst.features.context import (
    Computed,
    Context,
    first_level,
    last_level,
    last_share,
    logged_near,
    ratio,
    witness_at,
)
from loganalyst.model import Feature
from loganalyst.thresholds import feature_limit

FEATURES = (
    Feature("value_loss_last", "float", "loss", "last level of the value function's loss", "value_loss"),
    Feature("value_loss_drop_relative", "float", "share", "fall of the value function's loss relative to its first level (below 0: it rose)", "value_loss"),
    Feature("advantage_size", "float", "reward", "median absolute value of the advantages, or of their standard deviation", "advantage"),
    Feature("episode_length_growth", "float", "ratio", "last level of the length of episodes or answers divided by its first level", "episode_length"),
    Feature("episode_length_last", "float", "steps", "last level of the length of episodes or answers", "episode_length"),
    Feature("clipped_completions_first", "float", "share", "first level of the share of generated answers that are cut off at the length limit", "clipped_completions"),
    Feature("clipped_completions_last", "float", "share", "last level (median of five values or more) of the share of generated answers that are cut off at the length limit", "clipped_completions"),
    Feature("entropy_coefficient_metric", "text", "", "name of the weight of the entropy in the objective", "exploration"),
    Feature("entropy_coefficient_last", "float", "", "last level of this weight", "exploration"),
    Feature("entropy_coefficient_lowest", "float", "", "lowest logged value of this weight above 0", "exploration"),
    Feature("entropy_coefficient_highest", "float", "", "highest value of this weight from its lowest one on", "exploration"),
    Feature("entropy_coefficient_growth", "float", "ratio", "last level of this weight divided by its lowest value", "exploration"),
    Feature("exploration_last", "float", "share", "last level of the share of random actions", "exploration"),
    Feature("exploration_low_share", "float", "share", "share of the run after the share of random actions first fell below a twentieth of its first level", "exploration"),
)  # fmt: skip

# the weight of the entropy in "train/ent_coef", "alpha" or "losses/alpha"
_ENTROPY_COEFFICIENT = re.compile(r"(^|[/_.])(ent(ropy)?_coef(ficient)?|alpha|temperature)$", re.I)


def compute(context: Context) -> Computed:
    """All of FEATURES; a group without its metric is left out."""
    out: Computed = {}
    for curve in context.with_role("value_loss")[:1]:
        first, last = first_level(curve.values), last_level(curve.values)
        fall = None if first is None or last is None else ratio(first - last, abs(first))
        out |= {
            "value_loss_last": (logged_near(curve.values, last), witness_at(curve)),
            "value_loss_drop_relative": fall,
        }
    spreads = sorted(context.with_role("advantage"), key=lambda c: "std" not in c.metric.lower())
    for curve in spreads[:1]:
        finite = curve.values[np.isfinite(curve.values)]
        out["advantage_size"] = (float(np.median(np.abs(finite))) if finite.size else None, witness_at(curve))
    for curve in context.with_role("episode_length", "completion_length")[:1]:
        last = last_level(curve.values)
        out["episode_length_last"] = (last, witness_at(curve))
        out["episode_length_growth"] = ratio(last, first_level(curve.values))
    for curve in context.with_role("clipped_completions")[:1]:
        out["clipped_completions_first"] = first_level(curve.values)
        out["clipped_completions_last"] = (last_share(curve.values), witness_at(curve))
    return out | _coefficient(context) | _exploration(context)


def _coefficient(context: Context) -> Computed:
    """The weight of the entropy that soft actor-critic learns."""
    named = (c for c in context.with_role("exploration") if _ENTROPY_COEFFICIENT.search(c.metric))
    for curve in named:
        above = np.where(np.isfinite(curve.values) & (curve.values > 0), curve.values, np.nan)
        if np.isfinite(above).any():
            last = last_level(curve.values)
            low = int(np.nanargmin(above))
            high = low + int(np.nanargmax(above[low:]))
            return {
                "entropy_coefficient_metric": curve.metric,
                "entropy_coefficient_last": (last, witness_at(curve)),
                "entropy_coefficient_growth": ratio(last, float(above[low])),
                "entropy_coefficient_lowest": (float(above[low]), witness_at(curve, low)),
                "entropy_coefficient_highest": (float(above[high]), witness_at(curve, high)),
            }
    return {}


def _exploration(context: Context) -> Computed:
    curve = context.random_actions()
    if curve is None:
        return {}
    first = first_level(curve.values)
    low = np.flatnonzero(curve.values < feature_limit("exploration_low") * first) if first else np.empty(0, dtype=int)
    return {
        "exploration_last": (last_level(curve.values), witness_at(curve)),
        "exploration_low_share": float(1 - low[0] / len(curve.values)) if low.size else 0.0,
    }
