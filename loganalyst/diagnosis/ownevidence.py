"""A rule judged by its own evidence, symptoms and measurements: naive Bayes in log-odds.

Of each group of correlated items only the strongest counts, so that no fact counts twice.
"""

import math
from collections.abc import Collection, Sequence

from loganalyst.diagnosis.evidence import Answer, Answers
from loganalyst.diagnosis.judged import Judged, threshold
from loganalyst.diagnosis.logodds import capped, logit, sigmoid
from loganalyst.diagnosis.rule import Item, Rule, Scale
from loganalyst.model import Evidence, Verdict
from loganalyst.thresholds import verdict_limit

WORDS = ("log_root_", "job_")  # prefixes of features that a job log or the scheduler's accounting states in words


def judge_alone(
    rule: Rule, answers: Answers, reported: Collection[str] = (), measured: Sequence[Evidence] = ()
) -> Judged:
    """A rule judged by its own evidence, symptoms and measurements, without its rivals."""
    holds = answers.items[rule.id]
    counted = strongest(rule.evidence, holds)
    scale = scale_of(rule, holds, measured)
    steered = math.log(verdict_limit("reported_symptom")) * any(s in reported for s in rule.symptoms)
    shown = _measured_weight(measured)
    p = capped(sigmoid(logit(rule.prior) + sum(counted) + steered + shown), scale != "circumstantial")
    seen = tuple(s for s in rule.symptoms if answers.symptoms[s])
    asked = (*holds, *(e.holds for e in measured))
    applies = answers.applies[rule.id]
    if measured and applies is None:
        applies = True  # a measurement shows that the rule applies
    verdict = _verdict(applies, asked, p, [answers.symptoms[s] for s in rule.symptoms])
    supported = sum(counted) + steered + shown > 0
    return Judged(rule, verdict, p, p, p, seen, counted, scale, supported=supported, measured=bool(measured))


def scale_of(rule: Rule, holds: Sequence[Answer], measured: Sequence[Evidence] = ()) -> Scale:
    """The scale of a cause: whether words of a log or measures are its weightiest direct evidence."""
    direct = [i for i, h in zip(rule.evidence, holds, strict=True) if h and i.kind == "direct" and i.if_true > 0]
    carry = [(i.if_true, any(f.startswith(WORDS) for f in i.ask.features)) for i in direct]
    carry += [(e.weight, False) for e in measured if e.weight > 0]
    return "circumstantial" if not carry else "logs" if max(carry)[1] else "causes"


def strongest(items: Sequence[Item], holds: Sequence[Answer]) -> tuple[float, ...]:
    """The weight of each item that counts: the largest of its group in size. The others, and unknown ones, get 0."""
    if all(h is None for h in holds):
        return (0.0,) * len(items)
    weights = [0.0 if h is None else item.if_true if h else item.if_false for item, h in zip(items, holds, strict=True)]
    best: dict[str, int] = {}
    for i, item in enumerate(items):
        at = best.setdefault(item.group, i)
        if (abs(weights[i]), weights[i]) > (abs(weights[at]), weights[at]):
            best[item.group] = i
    return tuple(w if best[item.group] == i else 0.0 for i, (item, w) in enumerate(zip(items, weights, strict=True)))


def _measured_weight(measured: Sequence[Evidence]) -> float:
    """The sum of the measured weights, with the largest of each group in size."""
    best: dict[str, float] = {}
    for e in measured:
        best[e.group] = max(best.get(e.group, 0.0), e.weight, key=abs)
    return sum(best.values())


def _verdict(applies: Answer, holds: Sequence[Answer], p: float, symptoms: Sequence[Answer]) -> Verdict:
    """A cause needs an observed symptom. Without one it is unlikely, or unknown if a symptom may still be there."""
    if applies is False:
        return "not_applicable"
    if applies is None or all(h is None for h in holds):
        return "unknown"
    if any(symptoms) or threshold(p) == "unlikely":
        return threshold(p)
    return "unlikely" if all(s is False for s in symptoms) else "unknown"
