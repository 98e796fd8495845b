"""Features of preference learning: do chosen answers win, and does their likelihood fall?"""

import numpy as np

from loganalyst.curves.metricnames import names_held_out
from loganalyst.features.context import Computed, Context, Value, first_level, last_level, ratio, witness_at
from loganalyst.model import Curve, Feature
from loganalyst.thresholds import feature_limit

MARGIN, ACCURACY, CHOSEN = "preference_margin", "preference_accuracy", "chosen_reward"
LIKELIHOOD, REJECTED = "chosen_likelihood", "rejected_likelihood"
SCORE = "score"  # in the name of what a reward model says: "chosen_score"
ADAPTER_WORDS = ("lora", "peft", "adapter")
MIN_EVALUATIONS, MIN_AGREEMENT = 4, 0.99  # of held-out values, and their correlation, for the ratio of both
MAX_FACTOR_SPREAD = 0.02  # of beta over the steps, from rounded values
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
    Feature("preference_beta_implied", "float", "", "change of the implicit reward divided by that of the log-probability: of the margin on held-out pairs, else of chosen answers (NULL where these moved little)", LIKELIHOOD),
    Feature("preference_beta_seen_high", "bool", "", "settings, or rewards beside log-probabilities, show a beta above 1 (false: nothing shows one)", MARGIN),
    Feature("preference_reference_free", "bool", "", "the reward of chosen answers is their log-probability times a constant: no reference model is subtracted, as in ORPO and SimPO (false: nothing shows it)", CHOSEN),
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
    for curve in _accuracies(context)[:1]:
        out["preference_accuracy_first"] = first_level(curve.values)
        out["preference_accuracy_last"] = (last_level(curve.values), witness_at(curve))
    for curve in context.with_role(CHOSEN)[:1]:
        out["chosen_reward_last"] = (last_level(curve.values), witness_at(curve))
        out["preference_reference_free"] = _reference_free(curve, context.with_role(LIKELIHOOD))
    if out:
        out["preference_adapters"] = _adapters(context)
        scores = [c for c in context.with_role(CHOSEN) if SCORE in c.metric.lower()]
        out["preference_by_likelihood"] = len(context.with_role(CHOSEN, LIKELIHOOD)) > len(scores)
    out |= _held_out(context) | _likelihoods(context)
    if "preference_margin_metric" in out:
        out["preference_beta_seen_high"] = _beta_high(context, out.get("preference_beta_implied"))
    return out


def _reference_free(rewards: Curve, likelihoods: list[Curve]) -> bool:
    """Whether the rewards are log-probabilities of the same steps times one factor."""
    for likelihood in likelihoods[:1]:
        if np.array_equal(likelihood.steps, rewards.steps) and likelihood.values.all():
            factors = rewards.values / likelihood.values
            middle = float(np.median(factors))
            return bool(middle > 0 and (np.abs(factors - middle) <= MAX_FACTOR_SPREAD * middle).all())
    return False


def _accuracies(context: Context) -> list[Curve]:
    """The shares of pairs in which the chosen answer wins: where margins are logged and no such share by name, the
    plain accuracies, unless they count tokens.
    """
    named = context.with_role(ACCURACY)
    if named or not context.with_role(MARGIN):
        return named
    return [c for c in context.with_role("train_accuracy", "val_accuracy") if "token" not in c.metric.lower()]


def _held_out(context: Context) -> Computed:
    """The held-out set whose chosen answers win most often, and the one in which they win least often."""
    sets = [c for c in _accuracies(context) if names_held_out(c.metric)]
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
        out["preference_beta_implied"] = _beta_held_out(context) or _beta(context, curve)
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


def _beta_held_out(context: Context) -> float | None:
    """The slope of the margin over the gap of both log-probabilities, on held-out pairs that stay the same."""
    margin, chosen, rejected = (
        next((c.values for c in context.with_role(role) if names_held_out(c.metric)), np.empty(0))
        for role in (MARGIN, LIKELIHOOD, REJECTED)
    )
    if not MIN_EVALUATIONS <= margin.size == chosen.size == rejected.size:
        return None
    gap = chosen - rejected
    if not np.isfinite(margin + gap).all() or gap.std() == 0 or margin.std() == 0:
        return None
    agreement = float(np.corrcoef(gap, margin)[0, 1])
    return float(margin.std() / gap.std()) if agreement > MIN_AGREEMENT else None


def _beta_high(context: Context, implied: Value) -> bool:
    known = (context.number("dpo_beta", "pref_beta", "beta"), implied)
    return any(isinstance(beta, float) and beta > feature_limit("preference_beta_high") for beta in known)
