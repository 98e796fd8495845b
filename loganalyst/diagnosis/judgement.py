"""The answer for a run: status, symptoms, ranked causes, and the causes that were considered and dropped."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import polars as pl

from loganalyst import rulefiles
from loganalyst.diagnosis import advice, confidence, decidingevidence, healthconfidence, healthyrange, lookalikes
from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.evidence import Answers, answer, evidence, feature_table, symptom
from loganalyst.diagnosis.expectedbehaviour import expected
from loganalyst.diagnosis.fixtemplates import templates
from loganalyst.diagnosis.judged import Judged
from loganalyst.diagnosis.logodds import calibrate
from loganalyst.diagnosis.reportedsymptoms import answered, steering, understood
from loganalyst.diagnosis.rivals import other
from loganalyst.diagnosis.rule import ANY_SYMPTOM
from loganalyst.model import (
    OURS,
    Alternative,
    Cause,
    Decider,
    Evidence,
    Features,
    Note,
    Rival,
    RuledOut,
    Status,
    Symptom,
    Told,
    Witness,
)
from loganalyst.thresholds import verdict_limit

MAX_CAUSES = 5


@dataclass(frozen=True)
class Judgement:
    """What the rules say about one run.

    `confidence` is that of the status: that the first cause is right, that there is none (healthy), or that no rule
    names it (cause_unknown). It is 0 if nothing could be judged. `stated` is the same before calibration and limits.
    `rivals` are causes that "healthy" may hide.
    """

    status: Status
    confidence: float
    stated: float = 0.0
    symptoms: tuple[Symptom, ...] = ()
    causes: tuple[Cause, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    ruled_out: tuple[RuledOut, ...] = ()
    not_supported: tuple[RuledOut, ...] = ()
    unknown: tuple[RuledOut, ...] = ()
    notes: tuple[Note, ...] = ()
    told: tuple[Told, ...] = ()
    decide: tuple[Decider, ...] = ()
    rivals: tuple[Rival, ...] = ()
    sure: Mapping[str, Judged] = field(default_factory=dict)  # every rule, the likeliest first


def judge(catalogue: Catalogue, table: pl.DataFrame, witnesses: Sequence[Mapping[str, Witness]]) -> list[Judgement]:
    """Judge many runs independently: `table` has one row of features per run, `witnesses` one mapping per run."""
    return [_judgement(catalogue, answers) for answers in answer(catalogue, table, witnesses)]


def diagnose(
    catalogue: Catalogue, features: Features, reported: Sequence[str] = (), measured: confidence.Measured | None = None
) -> Judgement:
    """Judge one run by its features, by the symptoms that the user `reported`, and by evidence `measured` elsewhere."""
    table = feature_table(catalogue, [features.values])
    return _judgement(catalogue, answer(catalogue, table, [features.witnesses])[0], reported, measured)


def _judgement(
    catalogue: Catalogue,
    answers: Answers,
    texts: Sequence[str] = (),
    measured: confidence.Measured | None = None,
) -> Judgement:
    complaints = understood(texts, catalogue.symptoms)
    answers = answers.with_reported(id_ for complaint in complaints for id_ in complaint.symptoms)
    judged = confidence.judge(catalogue, answers, steering(complaints, answers), measured)
    harmless = {s: j.confidence for j in judged.values() if j.rule.benign and j.verdict == "likely" for s in j.seen}
    seen = [s for s, holds in answers.symptoms.items() if holds and s not in harmless]
    roots = [j for j in judged.values() if _is_root(j, seen)]
    if _excused(catalogue, answers, seen, roots):
        seen, roots = [], []
    status = _status(catalogue, answers, seen, roots, harmless)
    named = status == "diagnosis_complete"
    stated = roots[0].share if named else _unnamed(status, catalogue, answers, judged, harmless)
    sure = roots[0].confidence if named else _calibrated(status, stated, catalogue, answers)
    shown = roots[:MAX_CAUSES]
    rest = {id_: j for id_, j in judged.items() if not j.rule.benign and j not in roots and j.under is None}
    others = {id_: j for id_, j in rest.items() if _competes(j, seen) and j.listed}
    against = {id_ for id_, j in rest.items() if id_ not in others and _excluded(j, answers)}
    unsure = status == "cause_unknown" or band(sure) == "low"  # the confidence of an unnamed cause decides nothing
    return Judgement(
        status=status,
        confidence=sure,
        stated=stated,
        symptoms=tuple(_observed(s, catalogue, answers) for s in seen),
        causes=tuple(_cause(j, catalogue, answers, judged, (measured or {}).get(j.rule.id, ())) for j in shown),
        alternatives=tuple(advice.alternative(j, answers, catalogue) for j in others.values()),
        ruled_out=tuple(_dropped(rest[id_], answers, catalogue, shown) for id_ in rest if id_ in against),
        not_supported=tuple(
            advice.ruled_out(j, answers, catalogue)
            for id_, j in rest.items()
            if id_ not in against and id_ not in others and j.verdict != "unknown"
        ),
        unknown=tuple(advice.ruled_out(j, answers, catalogue) for j in rest.values() if j.verdict == "unknown"),
        notes=notes(catalogue, answers, seen),
        told=answered(complaints, catalogue, answers),
        sure=judged,
        decide=_decide(catalogue, answers, judged, roots, status) if unsure else (),
        rivals=lookalikes.rivals(catalogue, answers, judged, sure) if status == "healthy" else (),
    )


def _decide(
    catalogue: Catalogue, answers: Answers, judged: Mapping[str, Judged], roots: Sequence[Judged], status: Status
) -> tuple[Decider, ...]:
    """What would settle an unsure answer."""
    if status in ("healthy", "insufficient_data"):
        return decidingevidence.healthy(answers, catalogue)
    return (
        decidingevidence.between(roots[0], judged, answers, catalogue)
        if roots
        else decidingevidence.unnamed(judged, answers, catalogue)
    )


def notes(catalogue: Catalogue, answers: Answers, seen: Sequence[str] = ()) -> tuple[Note, ...]:
    """The notes that hold for the run with the symptoms `seen`. They do not change the answer."""
    said = {*(s for s, holds in answers.symptoms.items() if holds), *([ANY_SYMPTOM] if seen else [])}
    holding = (n for n in catalogue.notes.values() if answers.notes[n.id] and said.isdisjoint(n.unless_seen))
    return tuple(
        Note(
            id=note.id,
            title=note.title,
            text=note.says.render(answers.values) or note.title,
            change=note.change.render(answers.values) or "",
            origin=rulefiles.origin(note.path) or OURS,
        )
        for note in holding
    )


def _dropped(judged: Judged, answers: Answers, catalogue: Catalogue, shown: Sequence[Judged]) -> RuledOut:
    """A rule that is ruled out. It is no rival of a cause that explains it: a fix of that cause may be its own."""
    found = advice.ruled_out(judged, answers, catalogue)
    return replace(found, rival=found.rival and not any(judged.rule.id in j.rule.explains for j in shown))


def _is_root(judged: Judged, seen: Sequence[str]) -> bool:
    """Whether it is a root cause: likely or possible, no consequence, and of a symptom that is not harmless."""
    return judged.candidate and judged.listed and judged.under is None and _competes(judged, seen)


def _competes(judged: Judged, seen: Sequence[str]) -> bool:
    """Whether it was judged and could explain one of the `seen` symptoms."""
    known = judged.verdict in ("likely", "possible", "unlikely")
    return known and not judged.rule.benign and not set(seen).isdisjoint(judged.seen)


def _excluded(judged: Judged, answers: Answers) -> bool:
    """Whether it cannot be the cause: it does not apply, or its symptom was seen and the evidence is against it.

    An exclusion has a reason in words that excludes it, and a log that names no fault excludes none.
    """
    if judged.verdict == "not_applicable":
        return True
    reasoned = judged.contradicted and advice.excluding(judged, answers)
    if not judged.seen or judged.verdict == "unknown" or not reasoned:
        return False
    return advice.names_fault(answers) or not advice.lacks_line(judged, answers)


def _excused(catalogue: Catalogue, answers: Answers, seen: Sequence[str], roots: Sequence[Judged]) -> bool:
    """Whether notes excuse every symptom, and no cause is likely."""
    excused = {s for note in catalogue.notes.values() if note.excuses and answers.notes[note.id] for s in note.excuses}
    return not excused.isdisjoint(seen) and excused.issuperset(seen) and all(j.verdict != "likely" for j in roots)


def _status(
    catalogue: Catalogue,
    answers: Answers,
    seen: Sequence[str],
    roots: Sequence[Judged],
    harmless: Mapping[str, float],
) -> Status:
    """The status. `healthy` needs an answered core symptom, and input that could show health."""
    if not seen:
        asked = [s for s in healthconfidence.core_symptoms(catalogue, answers) if answers.symptoms[s] is not None]
        blind = any(note.blind and answers.notes[note.id] for note in catalogue.notes.values())
        return "healthy" if (asked and not blind) or harmless else "insufficient_data"
    return "diagnosis_complete" if any(j.verdict == "likely" for j in roots) else "cause_unknown"


def _unnamed(
    status: Status,
    catalogue: Catalogue,
    answers: Answers,
    judged: Mapping[str, Judged],
    harmless: Mapping[str, float],
) -> float:
    """The probability of an answer without a cause, before its calibration."""
    if status == "healthy":
        return healthconfidence.faultless(catalogue, answers, judged, min(harmless.values(), default=1.0))
    return other(judged) if status == "cause_unknown" else 0.0


def _calibrated(status: Status, stated: float, catalogue: Catalogue, answers: Answers) -> float:
    """The confidence of an answer without a cause."""
    if status == "healthy":
        return healthconfidence.healthy(stated, catalogue, answers)
    return calibrate(stated, catalogue.calibration("unknown"), answers) if status == "cause_unknown" else 0.0


def _observed(id_: str, catalogue: Catalogue, answers: Answers) -> Symptom:
    """A symptom in words, with what a healthy run does in its place."""
    found = symptom(catalogue.symptoms[id_], answers)
    return replace(found, expected=expected(id_, catalogue.declared, answers.values))


def _cause(
    judged: Judged,
    catalogue: Catalogue,
    answers: Answers,
    every: Mapping[str, Judged],
    measured: Sequence[Evidence] = (),
) -> Cause:
    rule = judged.rule
    own = evidence(rule, answers, judged.counted, catalogue.declared)
    usual = answers.usual.get(rule.id, {})
    shown = (*measured, *healthyrange.worded(own, rule.evidence, usual, answers.values, catalogue))
    symptoms = [symptom(catalogue.symptoms[s], answers) for s in judged.seen]
    place = _place(judged, answers)
    level = band(judged.confidence)
    return Cause(
        id=rule.id,
        label=rule.label,
        issue=rule.title,
        severity=rule.severity,
        confidence=judged.confidence,
        band=level,
        verdict=judged.verdict,
        summary=rule.summary,
        mechanism=rule.mechanism,
        evidence=shown,
        fix=advice.fixes(rule, answers),
        templates=templates(rule.id, answers.values),
        will_not_fix=rule.will_not_fix,
        side_effects=rule.side_effects,
        prevention=rule.prevention,
        references=rule.references,
        symptoms=judged.seen,
        onset_step=_onset(shown, symptoms),
        metric=place.metric or next((s.metric for s in symptoms if s.metric), None),
        file=place.file,
        line=place.line,
        rank=place.rank,
        node=place.node,
        consequences=tuple(j.rule.title for j in every.values() if j.under == rule.id),
        missing=decidingevidence.missing(judged, answers, catalogue.declared) if level == "low" else (),
        decide=decidingevidence.between(judged, every, answers, catalogue) if level == "low" else (),
        ended_run=judged.ended,
        limits=judged.limits,
        family=rule.family,
        origin=rulefiles.origin(rule.path) or OURS,
    )


def _onset(shown: Sequence[Evidence], symptoms: Sequence[Symptom]) -> int | None:
    """The first step of direct evidence; else the step of the weightiest item; else the first step of a symptom."""
    items = [e for e in shown if e.holds and e.weight > 0 and e.step is not None]
    direct = [e.step for e in items if e.kind == "direct"]
    weightiest = [e.step for e in sorted(items, key=lambda e: -e.weight)[:1]]
    steps = direct or weightiest or [s.step for s in symptoms]
    return min((s for s in steps if s is not None), default=None)


def band(p: float) -> Literal["high", "medium", "low"]:
    """`high`, `medium` or `low`, by `rules/verdicts.yaml`."""
    return "high" if p > verdict_limit("high") else "medium" if p >= verdict_limit("medium") else "low"


def _place(judged: Judged, answers: Answers) -> Witness:
    """Where the weightiest supporting item was seen. Items with a line of a log come first.

    Of a group only its weightiest item counts. Where that has no line, another that supports the cause may tell it.
    """
    rows = zip(judged.counted, judged.rule.evidence, answers.items[judged.rule.id], strict=True)
    holding = sorted(((w, i) for w, i, holds in rows if holds and i.if_true > 0), key=lambda f: (-f[0], -f[1].if_true))
    witnesses = [w for _, i in holding if (w := answers.witness(i.at, i.ask)) != Witness()]
    return next((w for w in witnesses if w.line is not None), witnesses[0] if witnesses else Witness())
