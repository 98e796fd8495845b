"""Features of preference learning: do chosen answers win, and does their likelihood fall?"""

from loganalyst.curves.roles import names_held_out
from loganalyst.features.context import Computed, Context, first_level, last_level, ratio, witness_at
from loganalyst.model import Curve, Feature

MARGIN, ACCURACY, CHOSEN = "preference_margin", "preference_accuracy", "chosen_reward"
LIKELIHOOD, REJECTED = "chosen_likelihood", "rejected_likelihood"
ADAPTER_WORDS = ("lora", "peft", "adapter")
MIN_MOVE = 0.1  # of the first log-probability; below it the ratio of both changes is noise
FEATURES = (
    Feature("preference_margin_metric", "text", "", "reward margin of chosen over rejected answers", MARGIN),
    Feature("preference_margin_points", "int", "points", "logged values of the margin", MARGIN),
    Feature("preference_margin_last", "float", "nats", "last level of the margin", MARGIN),
    Feature("preference_margin_zero_share", "float", "share", "share of the logged margins that are exactly 0", MARGIN),
    Feature("preference_accuracy_first", "float", "share", "first level of the share of pairs in which the chosen answer wins", ACCURACY),
    Feature("preference_accuracy_last", "float", "share", "last level of the share of pairs in which the chosen answer wins", ACCURACY),
    Feature("preference_held_out_last", "float", "share", "the same last level of held-out pairs; of several sets the highest", ACCURACY),
    Feature("preference_held_out_worst", "float", "share", "the same last level of held-out pairs; of several sets the lowest", ACCURACY),
    Feature("preference_held_out_worst_metric", "text", "", "the accuracy of this set", ACCURACY),
    Feature("preference_adapters", "bool", "", "the settings name adapters (NULL: no settings were read)", MARGIN),
    Feature("preference_by_likelihood", "bool", "", "rewards or log-probabilities of both answers are logged: a policy is trained, not a reward model", MARGIN),
    Feature("preference_beta_implied", "float", "", "change of the implicit reward of chosen answers divided by that of their log-probability (NULL where that moved little)", LIKELIHOOD),
    Feature("chosen_likelihood_first", "float", "nats", "first level of the log-probability of chosen answers", LIKELIHOOD),
    Feature("chosen_likelihood_last", "float", "nats", "last level of the log-probability of chosen answers", LIKELIHOOD),
    Feature("chosen_likelihood_fall", "float", "share", "fall of the log-probability of chosen answers as a share of the size of its first level", LIKELIHOOD),
    Feature("rejected_likelihood_fall", "float", "share", "the same fall of rejected answers", "rejected_likelihood"),
    Feature("chosen_reward_last", "float", "nats", "last level of the implicit reward of chosen answers (below 0: they became less likely than under the reference)", CHOSEN),
)  # fmt: skip


def compute(context: Context) -> Computed:
    """All of FEATURES; a group without its metric is left out."""
    out: Computed = {}
    for curve in context.with_role(MARGIN)[:1]:
        out["preference_margin_metric"] = curve.metric
        out["preference_margin_points"] = len(curve.values)
        out["preference_margin_last"] = (last_level(curve.values), witness_at(curve))
        out["preference_margin_zero_share"] = (float((curve.values == 0).mean()), witness_at(curve))
    for curve in context.with_role(ACCURACY)[:1]:
        out["preference_accuracy_first"] = first_level(curve.values)
        out["preference_accuracy_last"] = (last_level(curve.values), witness_at(curve))
    for curve in context.with_role(CHOSEN)[:1]:
        out["chosen_reward_last"] = (last_level(curve.values), witness_at(curve))
    if out:
        out["preference_adapters"] = _adapters(context)
        out["preference_by_likelihood"] = bool(context.with_role(CHOSEN, LIKELIHOOD))
    return out | _held_out(context) | _likelihoods(context)


def _held_out(context: Context) -> Computed:
    """The held-out set whose chosen answers win most often, and the one in which they win least often."""
    sets = [c for c in context.with_role(ACCURACY) if names_held_out(c.metric)]
    levels = sorted(((last, c) for c in sets if (last := last_level(c.values)) is not None), key=lambda pair: pair[0])
    if not levels:
        return {}
    (lowest, worst), (highest, best) = levels[0], levels[-1]
    return {
        "preference_held_out_last": (highest, witness_at(best)),
        "preference_held_out_worst": (lowest, witness_at(worst)),
        "preference_held_out_worst_metric": worst.metric,
    }


def _adapters(context: Context) -> bool | None:
    """Whether a key of the settings names adapters."""
    keys = context.run.config["key"].drop_nulls().str.to_lowercase()
    return bool(keys.str.contains_any(list(ADAPTER_WORDS)).any()) if len(keys) else None


def _likelihoods(context: Context) -> Computed:
    """What became of the log-probabilities of both answers."""
    out: Computed = {}
    for curve in context.with_role(REJECTED)[:1]:
        out["rejected_likelihood_fall"] = _fall(curve)
    for curve in context.with_role(LIKELIHOOD)[:1]:
        out["chosen_likelihood_first"] = first_level(curve.values)
        out["chosen_likelihood_last"] = (last_level(curve.values), witness_at(curve))
        out["chosen_likelihood_fall"] = (_fall(curve), witness_at(curve))
        out["preference_beta_implied"] = _beta(context, curve)
    return out


def _fall(curve: Curve) -> float | None:
    first, last = first_level(curve.values), last_level(curve.values)
    return None if first is None or last is None else ratio(first - last, abs(first))


def _beta(context: Context, likelihood: Curve) -> float | None:
    """Beta, by which the implicit reward scales log-probabilities relative to the reference."""
    fall = _fall(likelihood)
    rewards = [c for c in context.with_role(CHOSEN) if len(c.values) == len(likelihood.values)]
    if fall is None or abs(fall) < MIN_MOVE or not rewards:
        return None
    moved = [(first_level(c.values), last_level(c.values)) for c in (rewards[0], likelihood)]
    changes = [last - first for first, last in moved if first is not None and last is not None]
    found = ratio(changes[0], changes[1]) if len(changes) == len(moved) else None
    return found if found is not None and found > 0 else None
