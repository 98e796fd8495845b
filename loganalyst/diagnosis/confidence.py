"""The confidence of every rule: its own evidence, its share among rivals, then calibration and limits.

The shares rank the causes and give the verdicts. The confidence is how often such a first cause was right on labelled
runs (Platt scaling, `rules/weights.yaml`). The limits are in `rules/verdicts.yaml`.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from loganalyst.diagnosis import logcap, rolecap
from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.evidence import Answers
from loganalyst.diagnosis.judged import Judged
from loganalyst.diagnosis.kindcap import limit
from loganalyst.diagnosis.logodds import CAP, calibrate, capped
from loganalyst.diagnosis.ownevidence import judge_alone
from loganalyst.diagnosis.rivals import explained, rivals, share, sharing
from loganalyst.diagnosis.rule import Limit
from loganalyst.model import Evidence, Verdict
from loganalyst.thresholds import verdict_limit

FAILED = ("failed", "killed", "node_fail")  # statuses of runs whose end matters most to the user
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
    shared = {id_: share(j, shared) for id_, j in shared.items()}
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


def _within(p: float, verdict: Verdict) -> float:
    """The confidence, limited to what its verdict allows: no rival looks surer than it is."""
    likely, possible = verdict_limit("likely"), verdict_limit("possible")
    if verdict == "likely":
        return min(max(p, likely), CAP)
    return min(p, math.nextafter(likely if verdict == "possible" else possible, 0))


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
