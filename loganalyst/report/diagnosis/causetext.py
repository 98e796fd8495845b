"""A cause in words: what happened, how sure it is, and what to change."""

from collections.abc import Callable

import msgspec

from loganalyst.model import Cause, CodeTemplate, Diagnosis, Fix, Place, TimelineEvent
from loganalyst.report import trust
from loganalyst.report.common.rows import Row
from loganalyst.report.common.wording import clean, percent
from loganalyst.report.diagnosis.deciding import decider_text
from loganalyst.report.diagnosis.evidencetext import EvidenceText, evidence_text, ordered_evidence, supports
from loganalyst.report.diagnosis.placenames import place_of_cause
from loganalyst.report.diagnosis.raisederror import raised
from loganalyst.report.diagnosis.stepwords import named_by
from loganalyst.report.diagnosis.verdict import lead_title

BASIS = {"high": "sure", "medium": "likely", "low": "a guess so far"}


class CauseText(msgspec.Struct, frozen=True):
    """A cause in words. `story` is the order of events (or the line) that shows it, `raised` the traceback or stack
    there. `decide` lists what would settle the question, the most informative first. `origin` is the file of a rule or
    pattern that is not ours. `templates` are code for its fixes; the code is ours.
    """

    id: str
    title: str
    severity: str
    likely: bool
    sure: str
    basis: str
    story: str
    raised: tuple[Row, ...]
    place: str
    summary: str
    mechanism: str
    fixes: tuple[Fix, ...]
    templates: tuple[CodeTemplate, ...]
    evidence: tuple[EvidenceText, ...]
    will_not_fix: str
    side_effects: str
    prevention: str
    references: tuple[str, ...]
    consequences: tuple[str, ...]
    decide: tuple[str, ...]
    origin: str
    limited: str  # why the confidence is lower than the evidence alone would make it


def cause_text(cause: Cause, d: Diagnosis, *, lead: bool) -> CauseText:
    """The cause in words; the first one (`lead`) with the place where NaN began."""
    place = place_of_cause(cause, d)
    return CauseText(
        id=cause.id,
        title=lead_title(cause, d) if lead and cause.verdict == "likely" else clean(cause.issue, 120),
        severity=clean(cause.severity),
        likely=cause.verdict == "likely",
        sure=percent(cause.confidence),
        basis=_basis(cause, d),
        story=_story(cause, d),
        raised=tuple(Row(label, text) for label, text in raised(cause, d)),
        place=place,
        summary=clean(cause.summary, 1000),
        mechanism=clean(cause.mechanism, 2000),
        fixes=tuple(_fix(f) for f in cause.fix),
        templates=cause.templates,
        evidence=tuple(evidence_text(e) for e in ordered_evidence(cause.evidence)),
        will_not_fix=clean(cause.will_not_fix, 1000),
        side_effects=clean(cause.side_effects, 1000),
        prevention=clean(cause.prevention, 1000),
        references=tuple(clean(r) for r in cause.references),
        consequences=tuple(clean(c) for c in cause.consequences),
        decide=tuple(decider_text(decider, d, cause) for decider in cause.decide),
        origin=trust.foreign(cause.origin),
        limited=clean("; ".join(cause.limits), 400),
    )


def _basis(cause: Cause, d: Diagnosis) -> str:
    """The kind of evidence behind a confidence, and why the cause comes before a surer one."""
    held = {e.kind for e in cause.evidence if e.holds}
    kind = "direct evidence" if "direct" in held else "circumstantial evidence" if held else "no evidence of its own"
    ended = ", and ended the run" if cause.ended_run and any(c.confidence > cause.confidence for c in d.causes) else ""
    foreign = ", not by our rules" if trust.foreign(cause.origin) else ""
    return (kind if cause.band == "high" else f"{BASIS[cause.band]}: {kind}") + ended + foreign


def _story(cause: Cause, d: Diagnosis) -> str:
    """What happened: the line that shows the cause, or which metric moved when, or the strongest evidence."""
    at_line = next((e for e in cause.evidence if e.holds and e.line is not None and e.line == cause.line), None)
    if at_line:
        return clean(at_line.text)
    metrics = {cause.metric, *(e.metric for e in cause.evidence if e.holds)}
    metrics |= {s.metric for s in d.symptoms if s.id in cause.symptoms}
    start = cause.onset_step or 0
    own = [e.step for e in d.timeline if e.metric == cause.metric and e.low is not None and e.step is not None]
    moved = [e for e in d.timeline if e.metric in metrics and (e.step or -1) >= min([start, *own])]
    first = [e for i, e in enumerate(moved) if e.kind == "nonfinite" or e.metric not in {m.metric for m in moved[:i]}]
    if len(first) > 1:
        return clean("; ".join(_event(e, named_by(d)) for e in first[:3]))
    held = [e.text for e in ordered_evidence(cause.evidence) if supports(e)]
    return clean("; ".join(held[:2]) or cause.summary)


def _event(event: TimelineEvent, named: Callable[[int], str]) -> str:
    return event.text + (f" at {named(event.step)}" if event.step is not None else "")


def _fix(fix: Fix) -> Fix:
    places = tuple(Place(clean(p.file), p.line, clean(p.key, 80), clean(p.value, 80)) for p in fix.places)
    return Fix(clean(fix.change), clean(fix.expected_impact), clean(fix.verify), clean(fix.if_not), places)
