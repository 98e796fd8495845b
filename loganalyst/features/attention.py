"""Features of attention: does its entropy collapse, and do its logits grow?"""

import numpy as np

from loganalyst.features.context import Computed, Context, first_level, last_level, ratio, witness_at
from loganalyst.model import Curve, Feature
from loganalyst.thresholds import feature_limit

ENTROPY, LOGIT = "attention_entropy", "attention_logit"
FEATURES = (
    Feature("attention_entropy_metric", "text", "", "attention entropy that fell most", ENTROPY),
    Feature("attention_entropy_first", "float", "nats", "first level of this entropy", ENTROPY),
    Feature("attention_entropy_last", "float", "nats", "last level of this entropy", ENTROPY),
    Feature("attention_entropy_last_share", "float", "share", "last level of this entropy divided by its first level", ENTROPY),
    Feature("attention_entropy_low_step", "int", "step", "step from which this entropy stays below half of its first level", ENTROPY),
    Feature("attention_logit_metric", "text", "", "attention logit with the highest last level", LOGIT),
    Feature("attention_logit_last", "float", "", "last level of this logit", LOGIT),
    Feature("attention_logit_growth", "float", "ratio", "last level of this logit divided by its first level", LOGIT),
)  # fmt: skip


def compute(context: Context) -> Computed:
    """All of FEATURES, for the worst curve of each role."""
    return _entropy(context) | _logit(context)


def _entropy(context: Context) -> Computed:
    shares = [(ratio(last_level(c.values), first_level(c.values)), c) for c in context.with_role(ENTROPY)]
    known = [(share, c) for share, c in shares if share is not None]
    if not known:
        return {}
    share, curve = min(known, key=lambda pair: pair[0])
    first = first_level(curve.values) or 0.0
    return {
        "attention_entropy_metric": curve.metric,
        "attention_entropy_first": first,
        "attention_entropy_last": (last_level(curve.values), witness_at(curve)),
        "attention_entropy_last_share": share,
        **_low_step(curve, feature_limit("attention_entropy_fall") * first),
    }


def _low_step(curve: Curve, limit: float) -> Computed:
    """The step after the last value at or above the limit."""
    above = np.flatnonzero(curve.values >= limit)
    at = int(above[-1]) + 1 if above.size else 0
    if at >= len(curve.values):
        return {}
    witness = witness_at(curve, at)
    return {"attention_entropy_low_step": (witness.step, witness)}


def _logit(context: Context) -> Computed:
    curves = [(last_level(c.values), c) for c in context.with_role(LOGIT)]
    known = [(level, c) for level, c in curves if level is not None]
    if not known:
        return {}
    level, curve = max(known, key=lambda pair: pair[0])
    return {
        "attention_logit_metric": curve.metric,
        "attention_logit_last": (level, witness_at(curve)),
        "attention_logit_growth": ratio(level, first_level(curve.values)),
    }
