"""Features of ranks, nodes or devices, from metrics whose names differ only in the number of a member."""

import re
from collections.abc import Iterator

import numpy as np

from loganalyst.features.context import Computed, Context, witness_at
from loganalyst.model import Curve, Feature

NEEDS = "step time, data time or throughput by rank or node"
FEATURES = (
    Feature("member_count", "int", "members", "ranks, nodes or devices with a speed metric of their own (of the metric that differs most)", NEEDS),
    Feature("member_slow_ratio", "float", "ratio", "time of the slowest member divided by the median of the others (medians of the second half)", NEEDS),
    Feature("member_slow_share", "float", "share", "share of the logged steps of the second half in which it was the slowest", NEEDS),
    Feature("member_slow_name", "text", "", "the slowest member, such as rank3", NEEDS),
    Feature("member_slow_metric", "text", "", "metric of the slowest member", NEEDS),
    Feature("member_slow_first_ratio", "float", "ratio", "member_slow_ratio of the same member in the first half", NEEDS),
)  # fmt: skip
ROLES = {"step_time": 1.0, "data_time": 1.0, "throughput": -1.0}  # exponent that turns the metric into a time
MIN_READINGS = 10  # of each member
# the member in a name: "step_time/rank_3", "gpu0/throughput", "node-12.data_time"
MEMBER = re.compile(
    r"(?:^|(?<=[^a-z0-9]))(rank|node|worker|host|gpu|device|proc|process|replica|shard)[\W_]?(\d+)(?![a-z0-9])", re.I
)

Group = list[tuple[str, Curve, float]]


def compute(context: Context) -> Computed:
    """All of FEATURES, for the group of metrics whose slowest member is furthest behind."""
    slowest = [found for group in _groups(context) if (found := _slowest(group)) is not None]
    return max(slowest, key=lambda pair: pair[0], default=(0.0, Computed()))[1]


def _groups(context: Context) -> Iterator[Group]:
    """Members with a common name apart from their number, logged at the same steps."""
    groups: dict[tuple[str, int], Group] = {}
    for role, power in ROLES.items():
        for curve in context.with_role(role):
            hit = MEMBER.search(curve.metric)
            if (
                hit
                and len(curve.values) >= MIN_READINGS
                and (curve.values > 0).all()
                and np.isfinite(curve.values).all()
            ):
                key = curve.metric[: hit.start()] + curve.metric[hit.end() :], len(curve.values)
                groups.setdefault(key, []).append((hit[1].lower() + hit[2], curve, power))
    return (group for group in groups.values() if len(group) > 1)


def _slowest(group: Group) -> tuple[float, Computed] | None:
    first = group[0][1]
    if not all(np.array_equal(curve.steps, first.steps) for _, curve, _ in group):
        return None
    times = np.array([curve.values**power for _, curve, power in group])
    half = times.shape[1] // 2
    late = np.median(times[:, half:], axis=1)
    worst = int(np.argmax(late))
    name, curve, _ = group[worst]
    behind, before = (
        float(medians[worst] / np.median(np.delete(medians, worst)))
        for medians in (late, np.median(times[:, :half], axis=1))
    )
    witness = witness_at(curve, len(curve.values) - 1)
    return behind, {
        "member_count": len(group),
        "member_slow_ratio": (behind, witness),
        "member_slow_share": float((times.argmax(axis=0)[half:] == worst).mean()),
        "member_slow_name": name,
        "member_slow_metric": (curve.metric, witness_at(curve)),
        "member_slow_first_ratio": before,
    }
