"""Features of a policy that moves: by how much per update, how far from its reference, and whether the sampler draws from
the policy that is trained.
"""

import numpy as np

from loganalyst.features.context import Computed, Context, first_level, last_level, ratio, witness_at
from loganalyst.model import Curve, Feature, Witness
from loganalyst.thresholds import feature_limit

UPDATE, REFERENCE, RATIO, DIFFERENCE = "approx_kl", "reference_kl", "importance_ratio", "sampler_difference"
AGE = "policy_age"
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
    Feature("policy_age_metric", "text", "", "name of the age of the policy that drew the answers", AGE),
    Feature("policy_age_last", "float", "updates", "last level of this age: updates between the policy that drew the answers and the policy that is trained", AGE),
    Feature("config_policy_age", "float", "updates", "largest age of the drawing policy that the settings allow", "config"),
    Feature("config_passes_per_answers", "float", "passes", "passes over each batch of answers before new ones are drawn", "config"),
    Feature("config_ratio_corrected", "bool", "", "the loss corrects for answers that another policy drew (NULL: no setting says so)", "config"),
)  # fmt: skip
# prime-rl, NeMo-RL, AReaL, tinker
_ALLOWED_AGE = (
    "max_off_policy_steps",
    "max_trajectory_age_steps",
    "max_head_offpolicyness",
    "max_async_level",
    "max_staleness",
)
_PASSES = ("ppo_epochs", "num_ppo_epochs", "num_iterations", "num_updates_per_batch")
_CORRECTED = (
    "use_importance_sampling_correction",
    "vllm_importance_sampling_correction",
    "use_decoupled_loss",
    "enable_vllm_is_correction",
)
NO_MEAN = ("max", "min", "std", "high", "low")  # words of ratios that are no mean


def compute(context: Context) -> Computed:
    """All of FEATURES; a group without its metric is left out."""
    return _updates(context) | _reference(context) | _sampler(context) | _age(context)


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


def _age(context: Context) -> Computed:
    """The age of the policy that draws: as logged, and as the settings allow. Passes count in language RL only."""
    corrected = context.text(*_CORRECTED)
    out: Computed = {}
    if (allowed := context.number(*_ALLOWED_AGE)) is not None:
        out["config_policy_age"] = allowed
    if corrected is not None:
        out["config_ratio_corrected"] = corrected.strip().lower() in ("true", "1", "yes")
    if context.with_role("completion_length", "reward_tie", "clipped_completions"):
        out["config_passes_per_answers"] = context.number(*_PASSES)
    for curve in context.with_role(AGE)[:1]:
        out["policy_age_metric"] = curve.metric
        out["policy_age_last"] = (last_level(curve.values), witness_at(curve))
    return out


def _largest(curve: Curve) -> tuple[float, Witness]:
    finite = np.where(np.isfinite(curve.values), curve.values, -np.inf)
    top = int(np.argmax(finite))
    return float(finite[top]), witness_at(curve, top)
