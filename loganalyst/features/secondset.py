"""Features of one held-out score on two sets: `val_auc` and `external_auc`, of which one learns nothing."""

from loganalyst.features.context import Computed, Context, first_level, last_level, witness_at
from loganalyst.features.tasks import of_two_sets, shares
from loganalyst.model import Curve, Feature

NEEDS = "held-out score on two sets"
FEATURES = (
    Feature("second_set_metric", "text", "", "the same measure on another held-out set, where it ends lowest", NEEDS),
    Feature("second_set_last", "float", "share", "its last level", NEEDS),
    Feature("second_set_gain", "float", "share", "its last level minus its first level", NEEDS),
    Feature("second_set_behind", "float", "share", "the last level of the measure on the set where it ends highest minus this level", NEEDS),
    Feature("first_set_metric", "text", "", "the measure on the set where it ends highest", NEEDS),
    Feature("first_set_last", "float", "share", "the last level there", NEEDS),
)  # fmt: skip


def compute(context: Context) -> Computed:
    """All of FEATURES, of the measure whose sets lie farthest apart; nothing without such a measure."""
    pairs = [(min(group, key=_end), max(group, key=_end)) for group in of_two_sets(context)]
    if not pairs:
        return {}
    low, high = max(pairs, key=lambda pair: _end(pair[1]) - _end(pair[0]))
    witness = witness_at(low, -1)
    return {
        "second_set_metric": (low.metric, witness),
        "second_set_last": (_end(low), witness),
        "second_set_gain": _end(low) - (first_level(shares(low)) or 0.0),
        "second_set_behind": (_end(high) - _end(low), witness),
        "first_set_metric": high.metric,
        "first_set_last": _end(high),
    }


def _end(curve: Curve) -> float:
    return last_level(shares(curve)) or 0.0
