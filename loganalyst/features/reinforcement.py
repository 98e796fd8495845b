"""Features of reinforcement learning: reward, entropy, the value function."""

import numpy as np
from numpy.typing import NDArray

from loganalyst.features.beginning import begins_late, unless_late
from loganalyst.features.context import (
    Computed,
    Context,
    first_level,
    last_level,
    last_share,
    logged_near,
    lowest_index,
    ratio,
    tau,
    witness_at,
)
from loganalyst.model import Curve, Feature
from loganalyst.signals import Shape
from loganalyst.signals.standarderror import Change, around, change, change_z, since_z, trend_z, whole_z
from loganalyst.thresholds import feature_limit

FEATURES = (
    Feature("reward_metric", "text", "", "name of the reward", "reward"),
    Feature("reward_points", "int", "points", "logged values of the reward", "reward"),
    Feature("reward_first", "float", "reward", "first level of the reward", "reward"),
    Feature("reward_last", "float", "reward", "last level of the reward", "reward"),
    Feature("reward_best", "float", "reward", "highest logged value of the reward", "reward"),
    Feature("reward_best_step", "int", "step", "step of the highest logged value of the reward", "reward"),
    Feature("reward_gain_z", "float", "standard errors", "gain from the first tenth to the last third, in standard errors (NULL while most actions are random)", "reward"),
    Feature("reward_gain_relative", "float", "share", "the same gain as a share of the larger of both levels in size", "reward"),
    Feature("reward_best_gain_z", "float", "standard errors", "gain from the first tenth to the twentieth around the highest level, in standard errors (0 if that lies in the first tenth)", "reward"),
    Feature("reward_lost_step", "int", "step", "step from which the reward stays below the middle of its first and its highest level (NULL: it ends above)", "reward"),
    Feature("reward_lost_share", "float", "share", "share of the gain up to the highest level that was lost again", "reward"),
    Feature("reward_success_share", "float", "share", "last level of a reward that is the share of successful episodes: every value is a share of up to 100 (NULL: it is none)", "reward"),
    Feature("reward_trend", "float", "", "Kendall's tau of the reward against time (-1 = each value is lower than all before)", "reward"),
    Feature("reward_trend_z", "float", "standard errors", "how often a value of the reward is above an earlier one, in standard errors of a curve without a trend", "reward"),
    Feature("reward_begins_late", "bool", "", "most of the steps or episodes had passed before the first logged value, so the total gain is not known", "reward"),
    Feature("reward_constant_share", "float", "share", "share of the last half that equals the last value (not known where rounded values repeat by chance)", "reward"),
    Feature("reward_late_gain_z", "float", "standard errors", "gain from the middle fifth to the last tenth, in standard errors", "reward"),
    Feature("reward_late_share", "float", "share", "share of the gain from the first to the last tenth that came after the middle fifth (NULL: it did not rise)", "reward"),
    Feature("reward_fall_z", "float", "standard errors", "change from the twentieth around the highest level to the last tenth, in standard errors (negative = fell)", "reward"),
    Feature("entropy_first", "float", "nats", "first level of the absolute entropy of the policy", "entropy"),
    Feature("entropy_last", "float", "nats", "last level of the absolute entropy of the policy", "entropy"),
    Feature("entropy_last_share", "float", "share", "last level of the entropy divided by its first level", "entropy"),
    Feature("entropy_low_share", "float", "share", "share of the run after the entropy first fell below 2 % of its first level", "entropy"),
    Feature("entropy_low_step", "int", "step", "step at which the entropy first fell below 2 % of its first level", "entropy"),
    Feature("entropy_high_step", "int", "step", "step at which the entropy first exceeded twice its first level", "entropy"),
    Feature("value_loss_rise_ratio", "float", "ratio", "last level of the value function's loss divided by its lowest level", "value_loss"),
    Feature("value_loss_rise_step", "int", "step", "step at which the value function's loss first exceeded ten times its lowest level", "value_loss"),
    Feature("advantage_zero_share", "float", "share", "share of the last half of the advantages that is 0 (not known where these zeros may be small values)", "advantage"),
    Feature("reward_tie_last", "float", "share", "last level (median of five values or more) of the share of groups whose rewards are all equal", "reward_tie"),
    Feature("success_loss_from_best", "float", "share", "fall of the success rate from its highest level, as a share of that level", "success_rate"),
    Feature("success_rate_last", "float", "share", "last level of the success rate", "success_rate"),
    Feature("clip_fraction_last", "float", "share", "last level of the clipped share", "clip_fraction"),
    Feature("explained_variance_last", "float", "share", "last level of the explained variance", "explained_variance"),
)  # fmt: skip

MIN_TREND_POINTS = 5
MIN_GAIN_POINTS = 10
MIN_SUCCESS_POINTS = 50  # values that show the steps of a share
MEAN_EPISODES = 100  # Stable-Baselines3 and Gymnasium average the return over the last hundred episodes
FIRST, MIDDLE, LAST_THIRD, LAST = (0.0, 0.1), (0.4, 0.6), (2 / 3, 1.0), (0.9, 1.0)  # stretches, as shares of the curve


def compute(context: Context) -> Computed:
    """All of FEATURES; a group without its metric is left out."""
    out: Computed = {**_reward(context), **_entropy(context), **_values(context)}
    for feature, role in (
        ("clip_fraction_last", "clip_fraction"),
        ("explained_variance_last", "explained_variance"),
    ):
        if curves := context.with_role(role):
            out[feature] = (last_level(curves[0].values), witness_at(curves[0]))
    for curve in context.with_role("reward_tie")[:1]:
        out["reward_tie_last"] = (last_share(curve.values), witness_at(curve))
    return out


def _values(context: Context) -> Computed:
    """The features of the value function, the advantages and the success rate."""
    out: Computed = {}
    for curve in context.with_role("value_loss")[:1]:
        out["value_loss_rise_ratio"] = (context.shape(curve).rise_ratio, witness_at(curve))
        if (at := _rise(curve, context.shape(curve))) is not None:
            out["value_loss_rise_step"] = (int(curve.steps[at]), witness_at(curve, at))
    spreads = sorted(context.with_role("advantage"), key=lambda c: "std" not in c.metric.lower())
    for curve in spreads[:1]:
        half = curve.values[len(curve.values) // 2 :]
        known = not (half == 0).any() or context.counts_as_zero(curve)
        out["advantage_zero_share"] = (float(np.mean(half == 0)) if known else None, witness_at(curve))
    for curve in context.with_role("success_rate")[:1]:
        shape = context.shape(curve)
        if shape.best is not None and shape.last is not None:
            fall = ratio(shape.last - shape.best, -shape.best)  # the shape is that of the negated values
            out["success_loss_from_best"] = (fall, witness_at(curve, shape.best_index))
            out["success_rate_last"] = (logged_near(curve.values, -shape.last), witness_at(curve))
    return out


def _rise(curve: Curve, shape: Shape) -> int | None:
    """The position at which a loss first exceeded ten times its lowest level; None where it never did."""
    if shape.best is None or shape.best_index is None or shape.best <= 0:
        return None
    high = np.flatnonzero(curve.values[shape.best_index :] > feature_limit("value_loss_rise") * shape.best)
    return shape.best_index + int(high[0]) if high.size else None


def _reward(context: Context) -> Computed:
    curve = context.main_reward()
    if curve is None:
        return {}
    shape = context.shape(curve)
    highest = lowest_index(-curve.values)
    best = witness_at(curve, highest)
    out: Computed = {"reward_metric": curve.metric, "reward_points": len(curve.values)}
    if shape.first is None or shape.last is None or shape.best is None:
        return out
    return out | {
        "reward_first": -shape.first,
        "reward_last": logged_near(curve.values, -shape.last),
        "reward_best": (None if highest is None else float(curve.values[highest]), best),
        "reward_best_step": (best.step, best),
        "reward_lost_share": _lost_share(curve, shape),
        "reward_lost_step": _lost_step(curve, (shape.first + shape.best) / 2),
        "reward_constant_share": shape.constant_share,
        "reward_success_share": logged_near(curve.values, -shape.last) if _counts_successes(curve.values) else None,
        "reward_trend": tau(curve.values, MIN_TREND_POINTS),
        "reward_trend_z": trend_z(curve.values),
        "reward_begins_late": begins_late(curve),
        **_known_gains(context, curve, _gains(curve.values, shape.best_index or 0)),
    }


def _known_gains(context: Context, curve: Curve, gains: Computed) -> Computed:
    """The gains; None where the log lacks the beginning or most actions are random, because chance determines such
    rewards.
    """
    random = context.random_actions()
    last = None if random is None else last_level(random.values)
    return (
        unless_late(curve, gains)
        if last is None or last <= feature_limit("random_actions_high")
        else dict.fromkeys(gains)
    )


def _counts_successes(values: NDArray[np.float64]) -> bool:
    """Whether values are shares of up to a hundred episodes that earned a reward of 1, and not all are equal.

    >>> _counts_successes(np.tile([0.0, 1 / 94, 0.01], 20)), _counts_successes(np.linspace(0, 0.1, 60) ** 2)
    (True, False)
    """
    known = values[np.isfinite(values)]
    if known.size < MIN_SUCCESS_POINTS or known.min() < 0 or known.max() > 1 or known.min() == known.max():
        return False
    successes = np.outer(np.unique(known), np.arange(1, MEAN_EPISODES + 1))
    off = np.abs(successes - np.rint(successes)).min(axis=1)
    return bool(off.max() < 1e-5)  # float32 keeps seven digits


def _lost_share(curve: Curve, shape: Shape) -> float | None:
    end = _last_level(curve, shape)
    if end is None or shape.first is None or shape.best is None or shape.first <= shape.best:
        return None
    return ratio(end - shape.best, shape.first - shape.best)


def _lost_step(curve: Curve, middle: float) -> int | None:
    """The step after the last value above `middle` (negated, as the shape is)."""
    above = np.flatnonzero(-curve.values <= middle)
    return int(curve.steps[above[-1] + 1]) if above.size and above[-1] + 1 < curve.values.size else None


def _last_level(curve: Curve, shape: Shape) -> float | None:
    """The last level (negated). If the best value lies within it, only the values after the best count."""
    after = curve.values[(shape.best_index or 0) + 1 :]
    after = after[np.isfinite(after)]
    if after.size >= len(curve.values) // 10:
        return shape.last
    return -float(np.median(after)) if after.size else shape.best


def _gains(values: NDArray[np.float64], best_index: int) -> Computed:
    """Gains between stretches of the curve in standard errors; nothing below 10 finite values."""
    if np.count_nonzero(np.isfinite(values)) < MIN_GAIN_POINTS:
        return {}
    first = np.isfinite(values[:best_index]).sum() < FIRST[1] * np.isfinite(values).sum()
    return {
        "reward_gain_z": whole_z(values),
        "reward_gain_relative": _relative(change(values, FIRST, LAST_THIRD)),
        "reward_best_gain_z": 0.0 if first else change_z(values, FIRST, around(values, best_index)),
        "reward_late_gain_z": change_z(values, MIDDLE, LAST),
        "reward_late_share": _late_share(change(values, FIRST, LAST), change(values, MIDDLE, LAST)),
        "reward_fall_z": since_z(values, best_index),
    }


def _late_share(whole: Change | None, late: Change | None) -> float | None:
    if whole is None or late is None or whole.late <= whole.early:
        return None
    return (late.late - late.early) / (whole.late - whole.early)


def _relative(gain: Change | None) -> float | None:
    return None if gain is None else ratio(gain.late - gain.early, max(abs(gain.early), abs(gain.late)))


def _entropy(context: Context) -> Computed:
    curves = context.policy_entropy()
    if not curves:
        return {}
    curve = curves[0]
    size = np.abs(curve.values)
    first, last = first_level(size), last_level(size)
    size = np.maximum(size, context.quantum(curve) / 2)  # a printed 0 is at most half of the last digit
    last_size = last_level(size)
    out: Computed = {"entropy_last": (last, witness_at(curve))}
    compared: Computed = {
        "entropy_first": first,
        "entropy_last_share": ratio(last_size, first),
        "entropy_low_share": 0.0,
    }
    high = np.flatnonzero(size > feature_limit("entropy_high") * first) if first else np.array([], dtype=int)
    if high.size:
        rise = witness_at(curve, int(high[0]))
        compared["entropy_high_step"] = (rise.step, rise)
    low = np.flatnonzero(size < feature_limit("entropy_low") * first) if first else np.array([], dtype=int)
    if low.size:
        witness = witness_at(curve, int(low[0]))
        compared["entropy_low_share"] = (float(1 - low[0] / len(size)), witness)
        compared["entropy_low_step"] = (witness.step, witness)
    return out | unless_late(curve, compared)
