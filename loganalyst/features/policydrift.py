"""Features of a policy that moves: by how much per update, how far from its reference, and whether the sampler draws from
the policy that is trained.
"""

import numpy as np

from loganalyst.features.context import Computed, Context, first_level, last_level, ratio, witness_at
from loganalyst.model import Curve, Feature, Witness
from loganalyst.thresholds import feature_limit

UPDATE, REFERENCE, RATIO, DIFFERENCE = "approx_kl", "reference_kl", "importance_ratio", "sampler_difference"
FEATURES = (
    Feature("approx_kl_max", "float", "nats", "largest divergence between successive policies", UPDATE),
    Feature("approx_kl_typical", "float", "nats", "median of this divergence", UPDATE),
    Feature("policy_kl_over_limit_share", "float", "share", "share of the updates with a divergence above 0.05", UPDATE),
    Feature("reference_kl_metric", "text", "", "name of the divergence from the reference policy", REFERENCE),
    Feature("reference_kl_first", "float", "nats", "first level of the divergence from the reference policy", REFERENCE),
    Feature("reference_kl_last", "float", "nats", "last level of this divergence", REFERENCE),
    Feature("reference_kl_max", "float", "nats", "largest value of this divergence", REFERENCE),
    Feature("reference_kl_max_step", "int", "step", "step of this largest value", REFERENCE),
    Feature("reference_kl_growth", "float", "ratio", "last level of this divergence divided by its first level", REFERENCE),
    Feature("importance_ratio_metric", "text", "", "name of the mean probability ratio between the trained policy and the sampler", RATIO),
    Feature("importance_ratio_first", "float", "ratio", "first level of this mean ratio (1: both agree)", RATIO),
    Feature("importance_ratio_last", "float", "ratio", "last level of this mean ratio", RATIO),
    Feature("sampler_difference_metric", "text", "", "name of the difference between the probabilities of sampler and trainer", DIFFERENCE),
    Feature("sampler_difference_last", "float", "", "last level of this difference", DIFFERENCE),
    Feature("sampler_difference_growth", "float", "ratio", "last level of this difference divided by its first level", DIFFERENCE),
)  # fmt: skip
NO_MEAN = ("max", "min", "std", "high", "low")  # words of ratios that are no mean


def compute(context: Context) -> Computed:
    """All of FEATURES; a group without its metric is left out."""
    return _updates(context) | _reference(context) | _sampler(context)


def _updates(context: Context) -> Computed:
    curves = [c for c in context.with_role(UPDATE) if np.isfinite(c.values).any()]
    if not curves:
        return {}
    curve = curves[0]
    finite = curve.values[np.isfinite(curve.values)]
    return {
        "approx_kl_max": _largest(curve),
        "approx_kl_typical": float(np.median(finite)),
        "policy_kl_over_limit_share": float(np.mean(finite > feature_limit("policy_kl_limit"))),
    }


def _reference(context: Context) -> Computed:
    curves = [c for c in context.with_role(REFERENCE) if np.isfinite(c.values).any()]
    if not curves:
        return {}
    curve = curves[0]
    first, last = first_level(curve.values), last_level(curve.values)
    largest = _largest(curve)
    return {
        "reference_kl_metric": curve.metric,
        "reference_kl_first": first,
        "reference_kl_last": (last, witness_at(curve)),
        "reference_kl_max": largest,
        "reference_kl_max_step": (largest[1].step, largest[1]),
        "reference_kl_growth": ratio(last, first),
    }


def _sampler(context: Context) -> Computed:
    out: Computed = {}
    means = [c for c in context.with_role(RATIO) if not any(word in c.metric.lower() for word in NO_MEAN)]
    for curve in means[:1]:
        out["importance_ratio_metric"] = curve.metric
        out["importance_ratio_first"] = first_level(curve.values)
        out["importance_ratio_last"] = (last_level(curve.values), witness_at(curve))
    for curve in context.with_role(DIFFERENCE)[:1]:
        first, last = first_level(curve.values), last_level(curve.values)
        out["sampler_difference_metric"] = curve.metric
        out["sampler_difference_last"] = (last, witness_at(curve))
        out["sampler_difference_growth"] = ratio(last, first)
    return out


def _largest(curve: Curve) -> tuple[float, Witness]:
    finite = np.where(np.isfinite(curve.values), curve.values, -np.inf)
    top = int(np.argmax(finite))
    return float(finite[top]), witness_at(curve, top)
