"""Features of preference learning: do chosen answers win, and does their likelihood fall?"""

from loganalyst.features.context import Computed, Context, first_level, last_level, witness_at
from loganalyst.model import Feature

MARGIN, ACCURACY, CHOSEN = "preference_margin", "preference_accuracy", "chosen_reward"
FEATURES = (
    Feature("preference_margin_metric", "text", "", "reward margin of chosen over rejected answers", MARGIN),
    Feature("preference_margin_points", "int", "points", "logged values of the margin", MARGIN),
    Feature("preference_margin_last", "float", "nats", "last level of the margin", MARGIN),
    Feature("preference_accuracy_first", "float", "share", "first level of the share of pairs in which the chosen answer wins", ACCURACY),
    Feature("preference_accuracy_last", "float", "share", "last level of the share of pairs in which the chosen answer wins", ACCURACY),
    Feature("chosen_reward_last", "float", "nats", "last level of the implicit reward of chosen answers (below 0: they became less likely than under the reference)", CHOSEN),
)  # fmt: skip


def compute(context: Context) -> Computed:
    """All of FEATURES; a group without its metric is left out."""
    out: Computed = {}
    for curve in context.with_role(MARGIN)[:1]:
        out["preference_margin_metric"] = curve.metric
        out["preference_margin_points"] = len(curve.values)
        out["preference_margin_last"] = (last_level(curve.values), witness_at(curve))
    for curve in context.with_role(ACCURACY)[:1]:
        out["preference_accuracy_first"] = first_level(curve.values)
        out["preference_accuracy_last"] = (last_level(curve.values), witness_at(curve))
    for curve in context.with_role(CHOSEN)[:1]:
        out["chosen_reward_last"] = (last_level(curve.values), witness_at(curve))
    return out
