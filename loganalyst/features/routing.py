"""Features of a mixture of experts: is the work spread over all of them?"""

import re

from loganalyst.features.context import Computed, Context, first_level, last_level, ratio, witness_at
from loganalyst.model import Feature
from loganalyst.thresholds import feature_limit

LOAD, ENTROPY, BALANCE = "expert_load", "router_entropy", "regularisation_loss"
FEATURES = (
    Feature("expert_count", "int", "experts", "experts with a logged load of their own", LOAD),
    Feature("expert_top_share", "float", "share", "share of the total load that the busiest expert has at the end", LOAD),
    Feature("expert_top_metric", "text", "", "metric of the busiest expert", LOAD),
    Feature("expert_idle_count", "int", "experts", "experts with less than a tenth of an equal share at the end", LOAD),
    Feature("expert_overload", "float", "ratio", "last level of the load of the busiest expert of the worst layer, as a multiple of the mean load less 1 (DeepSeek's MaxVio)", LOAD),
    Feature("expert_overload_metric", "text", "", "metric of this overload", LOAD),
    Feature("balance_loss_metric", "text", "", "loss for the balance of experts that grew most", BALANCE),
    Feature("balance_loss_last", "float", "", "last level of this loss (1: even load, where it is not weighted)", BALANCE),
    Feature("balance_loss_growth", "float", "ratio", "last level of this loss divided by its first level", BALANCE),
    Feature("router_entropy_metric", "text", "", "entropy of the choice of experts that fell most", ENTROPY),
    Feature("router_entropy_last", "float", "nats", "last level of this entropy", ENTROPY),
    Feature("router_entropy_share", "float", "share", "last level of this entropy divided by its first level", ENTROPY),
)  # fmt: skip
MIN_EXPERTS = 2
NUMBER = re.compile(r"\d+")
BALANCES = re.compile(r"load_?balanc|router_aux|moe[/_.]?aux|lb_loss", re.I)  # "load_balancing_loss", "moe/aux_loss"
OVERLOAD = re.compile(r"max_?vio", re.I)  # "max_vio/mean", "moe/layer_3/maxvio"


def compute(context: Context) -> Computed:
    """All of FEATURES; a group without its metric is left out."""
    return _load(context) | _overload(context) | _balance(context) | _entropy(context)


def _load(context: Context) -> Computed:
    """The load of the experts of one layer: metrics whose names differ only in the last number."""
    groups: dict[str, dict[str, float]] = {}
    for curve in (c for c in context.with_role(LOAD) if not OVERLOAD.search(c.metric)):
        level = last_level(curve.values)
        if level is not None and level >= 0 and (hits := list(NUMBER.finditer(curve.metric))):
            last = hits[-1]
            groups.setdefault(curve.metric[: last.start()] + "#" + curve.metric[last.end() :], {})[curve.metric] = level
    comparable = [g for g in groups.values() if len(g) >= MIN_EXPERTS and sum(g.values()) > 0]
    if not comparable:
        return {}
    worst = max(comparable, key=lambda g: max(g.values()) * len(g) / sum(g.values()))
    top, total = max(worst, key=lambda m: worst[m]), sum(worst.values())
    return {
        "expert_count": len(worst),
        "expert_top_share": worst[top] / total,
        "expert_top_metric": top,
        "expert_idle_count": sum(level < feature_limit("expert_idle") * total / len(worst) for level in worst.values()),
    }


def _overload(context: Context) -> Computed:
    """The overload of the worst layer, by metrics named after DeepSeek's MaxVio."""
    named = [c for c in context.with_role(LOAD, "other") if OVERLOAD.search(c.metric)]
    known = [(level, c) for c in named if (level := last_level(c.values)) is not None]
    if not known:
        return {}
    level, curve = max(known, key=lambda pair: pair[0])
    return {"expert_overload": (level, witness_at(curve)), "expert_overload_metric": curve.metric}


def _balance(context: Context) -> Computed:
    """The loss for an even load that grew most."""
    named = [c for c in context.with_role(BALANCE, "loss_component", "other") if BALANCES.search(c.metric)]
    known = [(growth, c) for c in named if (growth := ratio(last_level(c.values), first_level(c.values))) is not None]
    if not known:
        return {}
    growth, curve = max(known, key=lambda pair: pair[0])
    return {
        "balance_loss_metric": curve.metric,
        "balance_loss_last": (last_level(curve.values), witness_at(curve)),
        "balance_loss_growth": growth,
    }


def _entropy(context: Context) -> Computed:
    shares = [(ratio(last_level(c.values), first_level(c.values)), c) for c in context.with_role(ENTROPY)]
    known = [(share, c) for share, c in shares if share is not None]
    if not known:
        return {}
    share, curve = min(known, key=lambda pair: pair[0])
    return {
        "router_entropy_metric": curve.metric,
        "router_entropy_last": (last_level(curve.values), witness_at(curve)),
        "router_entropy_share": share,
    }
