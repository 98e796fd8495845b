"""Features of a mixture of experts: is the work spread over all of them?"""

import re
from collections.abc import Callable, Sequence

from loganalyst.features.context import Computed, Context, first_level, last_level, ratio, witness_at
from loganalyst.model import Curve, Feature
from loganalyst.thresholds import feature_limit

LOAD, ENTROPY, BALANCE = "expert_load", "router_entropy", "regularisation_loss"
FEATURES = (
    Feature("expert_count", "int", "experts", "experts with a logged load of their own", LOAD),
    Feature("expert_top_share", "float", "share", "share of the total load that the busiest expert has at the end", LOAD),
    Feature("expert_top_metric", "text", "", "metric of the busiest expert", LOAD),
    Feature("expert_idle_count", "int", "experts", "experts with less than a tenth of an equal share at the end", LOAD),
    Feature("expert_overload", "float", "ratio", "last level of the load of the busiest expert of the worst layer, as a multiple of the mean load less 1 (DeepSeek's MaxVio); by a share of the load too, if the config says how many experts there are", LOAD),
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
BUSIEST = re.compile(r"max(?:imum)?(?![a-z])|busiest", re.I)  # "moe/max_expert_load", "expert_load_max"
_EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts", "n_experts")


def compute(context: Context) -> Computed:
    """All of FEATURES; a group without its metric is left out."""
    return _load(context) | _overload(context) | _balance(context) | _entropy(context)


def _load(context: Context) -> Computed:
    """The load of the experts of one layer: metrics whose names differ only in the last number."""
    groups: dict[str, dict[str, float]] = {}
    for curve in (c for c in context.with_role(LOAD) if not (OVERLOAD.search(c.metric) or BUSIEST.search(c.metric))):
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
    """The overload of the worst layer, by metrics named after DeepSeek's MaxVio, or by shares of the load."""
    found = _most(context.with_role(LOAD, "other"), lambda curve: _over_mean(context, curve))
    if found is None:
        return {}
    level, curve = found
    return {"expert_overload": (level, witness_at(curve)), "expert_overload_metric": curve.metric}


def _over_mean(context: Context, curve: Curve) -> float | None:
    """The load that a metric states at the end, as a multiple of the mean load less 1."""
    level = last_level(curve.values)
    if OVERLOAD.search(curve.metric):
        return level
    experts = context.number(*_EXPERTS) if curve.role.name == LOAD else None
    first = first_level(curve.values)
    if not experts or experts < MIN_EXPERTS or first is None or level is None or not 0 <= max(first, level) <= 1:
        return None
    even = feature_limit("expert_load_even")
    is_share = BUSIEST.search(curve.metric) or 1 / even <= first * experts <= even
    return level * experts - 1 if is_share else None


def _balance(context: Context) -> Computed:
    """The loss for an even load that grew most."""
    named = [c for c in context.with_role(BALANCE, "loss_component", "other") if BALANCES.search(c.metric)]
    found = _most(named, _growth)
    if found is None:
        return {}
    growth, curve = found
    return {
        "balance_loss_metric": curve.metric,
        "balance_loss_last": (last_level(curve.values), witness_at(curve)),
        "balance_loss_growth": growth,
    }


def _entropy(context: Context) -> Computed:
    """The entropy that fell most."""
    found = _most(context.with_role(ENTROPY), lambda curve: None if (share := _growth(curve)) is None else -share)
    if found is None:
        return {}
    share, curve = -found[0], found[1]
    return {
        "router_entropy_metric": curve.metric,
        "router_entropy_last": (last_level(curve.values), witness_at(curve)),
        "router_entropy_share": share,
    }


def _growth(curve: Curve) -> float | None:
    return ratio(last_level(curve.values), first_level(curve.values))


def _most(curves: Sequence[Curve], measure: Callable[[Curve], float | None]) -> tuple[float, Curve] | None:
    """The curve with the greatest measure, and that measure; None where no curve has one."""
    known = [(value, curve) for curve in curves if (value := measure(curve)) is not None]
    return max(known, key=lambda pair: pair[0]) if known else None
