"""From answers to probabilities: log-odds of each rule alone, rivals for one symptom share, then calibration.

Naive Bayes in log-odds, with the strongest item of each group of correlated ones (so that one fact does not count
twice). Rivals are taken as exclusive, with an unnamed "other cause" of odds 1 beside them. What comes of that ranks
causes and gives the verdict; how often such a first cause was right on labelled runs is the confidence (Platt scaling,
`rules/weights.yaml`).
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.evidence import Answer, Answers
from loganalyst.diagnosis.rule import Calibration, Item, Rule, Scale
from loganalyst.model import Evidence, Verdict

LIKELY = 0.5
POSSIBLE = 0.2
INDIRECT_CAP = 0.90  # without direct evidence nothing is surer
CAP = 0.999
TOLD = math.log(
    2
)  # a symptom that the user tells, and the logs do not contradict, doubles the prior odds of its causes
# from the first to below the second; what is not judged keeps what it has
MEANS = {
    "likely": (LIKELY, CAP),
    "possible": (POSSIBLE, math.nextafter(LIKELY, 0)),
    "unlikely": (0.0, math.nextafter(POSSIBLE, 0)),
}
FAILED = ("failed", "killed", "node_fail")  # ends of runs that whoever started them asks about first
WORDS = ("log_root_", "job_")  # features of what a job's log, or the scheduler's accounting, states in words
MISS = 0.05  # share of faults that do not show in a symptom that was looked for


@dataclass(frozen=True)
class Judged:
    """One rule judged for one run.

    `alone` is its probability by its own evidence, `confidence` the same after sharing with its rivals, calibrated;
    `seen` the observed symptoms it explains, `counted` the weight of each item, `scale` how it is calibrated, `under`
    the likelier cause that explains it, `ended` whether it ended a run that failed.
    """

    rule: Rule
    verdict: Verdict
    alone: float
    confidence: float
    seen: tuple[str, ...]
    counted: tuple[float, ...]
    scale: Scale
    under: str | None = None
    ended: bool = False

    @property
    def candidate(self) -> bool:
        """Whether it is likely or possible."""
        return self.verdict in ("likely", "possible")

    @property
    def direct(self) -> bool:
        """Whether direct evidence speaks for it."""
        return self.scale != "circumstantial"


Measured = Mapping[str, Sequence[Evidence]]  # by rule id: what was measured beside the logs, such as by a replay


def judge(
    catalogue: Catalogue, answers: Answers, told: Collection[str] = (), measured: Measured | None = None
) -> dict[str, Judged]:
    """Every rule judged for one run, by id, the likeliest first, but what ended a run that failed before all else that
    may be true of it, and what is likely wrong with the training before what is with its speed; `told` are symptoms
    that steer (TOLD).
    """
    more = measured or {}
    alone = {rule.id: judge_alone(rule, answers, told, more.get(rule.id, ())) for rule in catalogue.rules.values()}
    parents = explained(alone)
    shared = {id_: replace(j, under=parents[id_]) if id_ in parents else j for id_, j in alone.items()}
    shared = {id_: _share(j, shared) for id_, j in shared.items()}
    sure = {id_: _calibrated(j, shared, catalogue) for id_, j in shared.items()}
    if answers.values.get("run_status") in FAILED:
        sure = {id_: replace(j, ended=j.scale == "logs" and j.verdict == "likely") for id_, j in sure.items()}
    # several may end at the edge of what their verdict means: their shares still rank them
    tiers = {id_: tier(j.ended, j.verdict, j.rule.family) for id_, j in sure.items()}
    order = sorted(sure, key=lambda id_: (*tiers[id_], -sure[id_].confidence, -shared[id_].confidence, id_))
    return {id_: sure[id_] for id_ in order}


def tier(ended_run: bool, verdict: Verdict, family: str) -> tuple[bool, bool]:
    """The lower goes first, then the surer: a slow run learns the same in more time."""
    return not ended_run, verdict != "likely" or family == "speed"


def judge_alone(rule: Rule, answers: Answers, told: Collection[str] = (), measured: Sequence[Evidence] = ()) -> Judged:
    """A rule judged by its own evidence and symptoms, and by what was `measured` of it, without its rivals."""
    holds = answers.items[rule.id]
    counted = strongest(rule.evidence, holds)
    scale = scale_of(rule, holds, measured)
    steered = TOLD * any(s in told for s in rule.symptoms)
    p = capped(sigmoid(logit(rule.prior) + sum(counted) + steered + _of_groups(measured)), scale != "circumstantial")
    seen = tuple(s for s in rule.symptoms if answers.symptoms[s])
    asked = (*holds, *(e.holds for e in measured))
    applies = answers.applies[rule.id]
    if measured and applies is None:
        applies = True  # logs that do not tell leave out what measures tell
    verdict = _verdict(applies, asked, p, [answers.symptoms[s] for s in rule.symptoms])
    return Judged(rule, verdict, p, p, seen, counted, scale)


def scale_of(rule: Rule, holds: Sequence[Answer], measured: Sequence[Evidence] = ()) -> Scale:
    """The scale of a cause by the weightiest direct evidence for it: whether words or measures carry it."""
    direct = [i for i, h in zip(rule.evidence, holds, strict=True) if h and i.kind == "direct" and i.if_true > 0]
    carry = [(i.if_true, any(f.startswith(WORDS) for f in i.ask.features)) for i in direct]
    carry += [(e.weight, False) for e in measured if e.weight > 0]
    return "circumstantial" if not carry else "logs" if max(carry)[1] else "causes"


def strongest(items: Sequence[Item], holds: Sequence[Answer]) -> tuple[float, ...]:
    """The weight of each item that counts: of each group the largest in size, 0 for the others and where not known."""
    if all(h is None for h in holds):
        return (0.0,) * len(items)
    weights = [0.0 if h is None else item.if_true if h else item.if_false for item, h in zip(items, holds, strict=True)]
    best: dict[str, int] = {}
    for i, item in enumerate(items):
        at = best.setdefault(item.group, i)
        if (abs(weights[i]), weights[i]) > (abs(weights[at]), weights[at]):
            best[item.group] = i
    return tuple(w if best[item.group] == i else 0.0 for i, (item, w) in enumerate(zip(items, weights, strict=True)))


def _of_groups(measured: Sequence[Evidence]) -> float:
    """The weights of what was measured, of each group the largest in size."""
    best: dict[str, float] = {}
    for e in measured:
        best[e.group] = max(best.get(e.group, 0.0), e.weight, key=abs)
    return sum(best.values())


def capped(p: float, direct: bool) -> float:
    """At most 0.90 unless a direct item speaks for the rule."""
    return min(p, CAP if direct else INDIRECT_CAP)


def calibrate(p: float, calibration: Calibration) -> float:
    """Platt scaling of a probability strictly between 0 and 1 (Platt 1999)."""
    return sigmoid(calibration.slope * logit(min(max(p, 1e-9), 1 - 1e-9)) + calibration.offset)


def logit(p: float) -> float:
    """Log-odds of 0 < p < 1."""
    return math.log(p / (1 - p))


def sigmoid(x: float) -> float:
    """The probability with log-odds x."""
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def _verdict(applies: Answer, holds: Sequence[Answer], p: float, symptoms: Sequence[Answer]) -> Verdict:
    """A cause needs a seen symptom: with none seen it is unlikely, or unknown where one might still be there."""
    if applies is False:
        return "not_applicable"
    if applies is None or all(h is None for h in holds):
        return "unknown"
    if any(symptoms) or threshold(p) == "unlikely":
        return threshold(p)
    return "unlikely" if all(s is False for s in symptoms) else "unknown"


def threshold(p: float) -> Verdict:
    """`likely` from 0.5, possible from 0.2, else unlikely."""
    return "likely" if p >= LIKELY else "possible" if p >= POSSIBLE else "unlikely"


def explained(judged: Mapping[str, Judged]) -> dict[str, str]:
    """Which candidate is a consequence of which: id -> the topmost likelier candidate that explains it."""
    candidates = [j for j in judged.values() if j.candidate]
    ids = {j.rule.id for j in candidates}
    # of two equally likely ones the one that explains more comes first; so nothing can explain itself through others
    # what is seen directly is surer than any cause of it can be that is not: above the cap such odds do not count
    candidates.sort(key=lambda j: (-min(j.alone, INDIRECT_CAP), -len(ids & set(j.rule.explains)), j.rule.id))
    parents: dict[str, str] = {}
    for i, j in enumerate(candidates):
        above = next((c.rule.id for c in candidates[:i] if j.rule.id in c.rule.explains), None)
        if above is not None:
            parents[j.rule.id] = parents.get(above, above)
    return parents


def _share(judged: Judged, every: Mapping[str, Judged]) -> Judged:
    """`p <- odds / (1 + sum of odds)` over its rivals and itself, for a rule that takes a share."""
    if not sharing(judged):
        return judged
    taken = sum(odds(j.alone) for j in every.values() if rivals(j, judged))
    p = odds(judged.alone) / (1 + taken)
    return replace(judged, confidence=p, verdict=threshold(p))


def _calibrated(judged: Judged, shared: Mapping[str, Judged], catalogue: Catalogue) -> Judged:
    """The likeliest of rivals is as sure as such causes were found right; what that leaves the others share as before.

    The share decides the verdict, and the confidence stays within what the verdict means.
    """
    if not sharing(judged):
        return judged
    lead = max([judged, *(j for j in shared.values() if rivals(j, judged))], key=lambda j: j.confidence)
    sure = capped(calibrate(lead.confidence, catalogue.calibration(lead.scale)), lead.direct)
    p = sure if lead is judged else judged.confidence * (1 - sure) / (1 - lead.confidence)
    low, high = MEANS[judged.verdict]
    return replace(judged, confidence=min(max(p, low), high))


def rivals(a: Judged, b: Judged) -> bool:
    """Whether both share: each explains a symptom seen, and neither may be the other's consequence."""
    return sharing(a) and sharing(b) and not set(a.seen).isdisjoint(b.seen) and not linked(a, b)


def linked(a: Judged, b: Judged) -> bool:
    """Whether one may be the consequence of the other: then both can be true, and neither takes from the other."""
    return b.rule.id in a.rule.explains or a.rule.id in b.rule.explains


def sharing(judged: Judged) -> bool:
    """Whether it takes a share: a symptom of it was seen, it could be judged, and no likelier cause explains it."""
    return bool(judged.seen) and judged.under is None and judged.verdict in ("likely", "possible", "unlikely")


def odds(p: float) -> float:
    """The ratio of p < 1 to 1 - p."""
    return p / (1 - p)


def other(judged: Mapping[str, Judged]) -> float:
    """The probability that the symptoms seen have a cause no rule names."""
    return 1 / (1 + sum(odds(j.alone) for j in judged.values() if sharing(j)))


def core_symptoms(catalogue: Catalogue, answers: Answers) -> set[str]:
    """The symptoms that a run of this kind should let us look for; none where the kind is not known."""
    kind = answers.values.get("run_kind")
    return {id_ for id_, symptom in catalogue.symptoms.items() if kind in symptom.core}


def healthy(catalogue: Catalogue, answers: Answers, judged: Mapping[str, Judged], harmless: float = 1.0) -> float:
    """The probability that no fault is there although none is seen; `harmless`: that what is seen is no fault.

    A fault whose symptom was looked for stays unseen in the share MISS of cases; one that would show only in a symptom
    that is core in this kind of run, and could not be looked for, counts with all its probability. Rules about what the
    run does not have (no core symptom, none could be looked for) do not count. Faults are taken as independent.
    What is no symptom and yet seldom seen in good runs takes from the log-odds (`doubt` of a note).
    """
    core = core_symptoms(catalogue, answers)
    p = harmless
    for j in judged.values():
        if j.rule.benign or j.verdict == "not_applicable":
            continue
        fault = j.rule.prior if j.verdict == "unknown" else j.alone
        if any(answers.symptoms[s] is not None for s in j.rule.symptoms):
            p *= 1 - MISS * fault
        elif core.intersection(j.rule.symptoms):
            p *= 1 - fault
    doubt = sum(note.doubt for note in catalogue.notes.values() if answers.notes[note.id])
    return calibrate(sigmoid(logit(min(p, CAP)) - doubt), catalogue.calibration("healthy"))
