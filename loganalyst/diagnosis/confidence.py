"""From answers to probabilities: log-odds of each rule alone, then shares among rivals, then calibration.

Naive Bayes in log-odds. Of each group of correlated items only the strongest counts, so that no fact counts twice.
Rivals for one symptom exclude each other, and an unnamed "other cause" of odds 1 competes with them. The shares rank
the causes and give the verdicts. The confidence is how often such a first cause was right on labelled runs (Platt
scaling, `rules/weights.yaml`). The limits are in `rules/verdicts.yaml`.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from loganalyst.diagnosis import logcap, rolecap
from loganalyst.diagnosis.calibrationkind import calibration_kind
from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.evidence import Answer, Answers
from loganalyst.diagnosis.kindcap import limit
from loganalyst.diagnosis.rule import Calibration, Item, Limit, Rule, Scale
from loganalyst.model import Evidence, Verdict
from loganalyst.thresholds import verdict_limit

CAP = 0.999  # keeps the odds finite
FAILED = ("failed", "killed", "node_fail")  # statuses of runs whose end matters most to the user
WORDS = ("log_root_", "job_")  # prefixes of features that a job log or the scheduler's accounting states in words


@dataclass(frozen=True)
class Judged:
    """One rule judged for one run.

    `alone` is its probability by its own evidence, `share` that among its rivals. `confidence` is its calibrated share,
    within the limits. `seen` are the observed symptoms that it explains, `counted` is the weight of each item, `scale`
    selects the calibration. `under` is the likelier cause that explains it. `ended` says whether it ended a failed run.
    `supported`: its evidence, measurements and the user's words raise its odds. `limits` are the reasons for which its
    confidence is limited.
    """

    rule: Rule
    verdict: Verdict
    alone: float
    share: float
    confidence: float
    seen: tuple[str, ...]
    counted: tuple[float, ...]
    scale: Scale
    under: str | None = None
    ended: bool = False
    supported: bool = True
    limits: tuple[str, ...] = ()
    measured: bool = False  # whether it has evidence from outside the logs

    @property
    def candidate(self) -> bool:
        """Whether it is likely or possible."""
        return self.verdict in ("likely", "possible")

    @property
    def listed(self) -> bool:
        """Whether the answer names it: as a likely cause, or as a supported one that is probable enough."""
        return self.verdict == "likely" or (self.supported and self.confidence >= verdict_limit("listed"))

    @property
    def contradicted(self) -> bool:
        """Whether an item of evidence is clearly against it."""
        return min(self.counted, default=0.0) <= -verdict_limit("contradicts")

    @property
    def direct(self) -> bool:
        """Whether direct evidence supports it."""
        return self.scale != "circumstantial"


Measured = Mapping[str, Sequence[Evidence]]  # by rule id: evidence from outside the logs, such as a replay


def judge(
    catalogue: Catalogue, answers: Answers, reported: Collection[str] = (), measured: Measured | None = None
) -> dict[str, Judged]:
    """Every rule judged for one run, by id, the likeliest first.

    Causes that ended a failed run come before all others, likely causes of speed problems after other likely causes.
    Symptoms that the user `reported` raise the odds of their causes.
    """
    more = measured or {}
    alone = {rule.id: judge_alone(rule, answers, reported, more.get(rule.id, ())) for rule in catalogue.rules.values()}
    parents = explained(alone)
    shared = {id_: replace(j, under=parents[id_]) if id_ in parents else j for id_, j in alone.items()}
    shared = {id_: _share(j, shared) for id_, j in shared.items()}
    sure = rolecap.limited(
        {id_: _calibrated(j, shared, answers, catalogue) for id_, j in shared.items()}, answers, catalogue
    )
    sure = {id_: j if id_ in more else _limited(j, answers) for id_, j in sure.items()}  # a measurement needs no kind
    if answers.values.get("run_status") in FAILED:
        sure = {id_: replace(j, ended=j.scale == "logs" and j.verdict == "likely") for id_, j in sure.items()}
    # confidences may meet at the edge of their verdict's range; the shares then decide the order
    tiers = {id_: tier(j.ended, j.verdict, j.rule.family) for id_, j in sure.items()}
    order = sorted(sure, key=lambda id_: (*tiers[id_], -sure[id_].confidence, -shared[id_].confidence, id_))
    return {id_: sure[id_] for id_ in order}


def tier(ended_run: bool, verdict: Verdict, family: str) -> tuple[bool, bool]:
    """The sort key before the confidence. Speed comes last: a slow run learns the same, only later."""
    return not ended_run, verdict != "likely" or family == "speed"


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


def capped(p: float, direct: bool) -> float:
    """The probability, at most `indirect_cap` unless direct evidence supports the rule."""
    return min(p, CAP if direct else verdict_limit("indirect_cap"))


def calibrate(p: float, calibration: Calibration, answers: Answers | None = None) -> float:
    """Platt scaling of a probability (Platt 1999), shifted by the kind of the run with these answers."""
    shift = calibration.kinds.get(calibration_kind(answers.values), 0.0) if answers else 0.0
    x = logit(min(max(p, 1e-9), 1 - 1e-9))
    return sigmoid(calibration.slope * min(max(x, -calibration.reach), calibration.reach) + calibration.offset + shift)


def logit(p: float) -> float:
    """Log-odds of 0 < p < 1."""
    return math.log(p / (1 - p))


def sigmoid(x: float) -> float:
    """The probability with log-odds x."""
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def _verdict(applies: Answer, holds: Sequence[Answer], p: float, symptoms: Sequence[Answer]) -> Verdict:
    """A cause needs an observed symptom. Without one it is unlikely, or unknown if a symptom may still be there."""
    if applies is False:
        return "not_applicable"
    if applies is None or all(h is None for h in holds):
        return "unknown"
    if any(symptoms) or threshold(p) == "unlikely":
        return threshold(p)
    return "unlikely" if all(s is False for s in symptoms) else "unknown"


def threshold(p: float) -> Verdict:
    """`likely`, `possible` or `unlikely`, by `rules/verdicts.yaml`."""
    likely, possible = verdict_limit("likely"), verdict_limit("possible")
    return "likely" if p >= likely else "possible" if p >= possible else "unlikely"


def _within(p: float, verdict: Verdict) -> float:
    """The confidence, limited to what its verdict allows: no rival looks surer than it is."""
    likely, possible = verdict_limit("likely"), verdict_limit("possible")
    if verdict == "likely":
        return min(max(p, likely), CAP)
    return min(p, math.nextafter(likely if verdict == "possible" else possible, 0))


def explained(judged: Mapping[str, Judged]) -> dict[str, str]:
    """The candidates that are consequences: id -> the topmost likelier candidate that explains it."""
    candidates = [j for j in judged.values() if j.candidate]
    ids = {j.rule.id for j in candidates}
    # Of two equally likely candidates the one that explains more comes first, so that no circle arises. Odds above the
    # cap do not count: a consequence that is seen directly is always surer than a cause that is not.
    cap = verdict_limit("indirect_cap")
    # That a restated symptom is sure says nothing against a likely reason for it, so it comes after that reason.
    sure = [j for j in candidates if j.alone >= verdict_limit("medium") and j.direct and not _restates(j)]
    reasons = {id_ for j in sure for id_ in j.rule.explains}
    candidates.sort(
        key=lambda j: (
            _restates(j) and j.rule.id in reasons,
            -min(j.alone, cap),
            -len(ids & set(j.rule.explains)),
            j.rule.id,
        )
    )
    parents: dict[str, str] = {}
    for i, j in enumerate(candidates):
        above = next((c.rule.id for c in candidates[:i] if j.rule.id in c.rule.explains), None)
        if above is not None:
            parents[j.rule.id] = parents.get(above, above)
    return parents


def _restates(judged: Judged) -> bool:
    return judged.rule.restates_symptom


def _share(judged: Judged, every: Mapping[str, Judged]) -> Judged:
    """`p <- odds / (1 + sum of odds)` over the rule and its rivals, if it takes a share."""
    if not sharing(judged):
        return judged
    taken = sum(odds(j.alone) for j in every.values() if rivals(j, judged))
    p = odds(judged.alone) / (1 + taken)
    return replace(judged, share=p, confidence=p, verdict=threshold(p))


def _calibrated(judged: Judged, shared: Mapping[str, Judged], answers: Answers, catalogue: Catalogue) -> Judged:
    """The likeliest rival gets its calibrated probability; the others keep their proportions of the rest.

    The share decides the verdict, and the confidence never exceeds the range of the verdict.
    """
    if not sharing(judged):
        return judged
    lead = max([judged, *(j for j in shared.values() if rivals(j, judged))], key=lambda j: j.confidence)
    if not lead.candidate:
        return judged  # calibration is fitted on first causes, and this group has none
    sure = _within(capped(_of_lead(lead, answers, catalogue), lead.direct), lead.verdict)
    if lead.verdict == "possible" and sure > lead.confidence:
        sure = lead.confidence  # calibration is fitted on likely causes
    p = sure if lead is judged else judged.confidence * (1 - sure) / (1 - lead.confidence)
    return replace(judged, confidence=_within(p, judged.verdict))


def _of_lead(lead: Judged, answers: Answers, catalogue: Catalogue) -> float:
    """The calibrated probability of a first cause. Measurements are no part of what was calibrated."""
    if lead.measured:
        return lead.confidence
    p = calibrate(lead.confidence, catalogue.calibration(lead.scale), answers)
    return min(p, verdict_limit("metrics_cap")) if lead.scale == "causes" and catalogue.scales else p


def _limited(judged: Judged, answers: Answers) -> Judged:
    """The rule with its confidence lowered to the lowest limit of what is not sure about the run, and why."""
    of_log = logcap.limits(answers.values) if judged.scale == "logs" else ()
    known = (limit(judged.rule, answers.values), _restated(judged), *of_log)
    limits = [found for found in known if found and found.highest < judged.confidence]
    lowest = min((found.highest for found in limits), default=judged.confidence)
    return replace(judged, confidence=lowest, limits=(*judged.limits, *(f.why for f in limits if f.highest == lowest)))


def _restated(judged: Judged) -> Limit | None:
    """The highest confidence of a cause that only restates its symptom; None for the words of a log, and for others."""
    if not judged.rule.restates_symptom or judged.scale == "logs":
        return None
    return Limit(verdict_limit("restated_cap"), "it says what happened, not why")


def rivals(a: Judged, b: Judged) -> bool:
    """Whether both compete: they explain the same observed symptom, and both cannot be true together."""
    return sharing(a) and sharing(b) and not set(a.seen).isdisjoint(b.seen) and not linked(a, b)


def linked(a: Judged, b: Judged) -> bool:
    """Whether both can be true: one may be the consequence of the other, or both only say what is visible."""
    both_visible = _restates(a) and _restates(b) and a.rule.id != b.rule.id
    return both_visible or b.rule.id in a.rule.explains or a.rule.id in b.rule.explains


def sharing(judged: Judged) -> bool:
    """Whether it takes a share: one of its symptoms was seen, it was judged, and no likelier cause explains it."""
    return bool(judged.seen) and judged.under is None and judged.verdict in ("likely", "possible", "unlikely")


def odds(p: float) -> float:
    """The ratio of p < 1 to 1 - p."""
    return p / (1 - p)


def other(judged: Mapping[str, Judged]) -> float:
    """The probability that the observed symptoms have a cause that no rule names."""
    return 1 / (1 + sum(odds(j.alone) for j in judged.values() if sharing(j)))
