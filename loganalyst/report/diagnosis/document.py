"""A diagnosis as one neutral document. All wording, rounding and choosing happens here; renderers only lay it out.

Every text of a document is one clean line. Log text and metric names are untrusted and lose their control characters.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec

from loganalyst.model import Alternative, Diagnosis, QuickFix, Rival
from loganalyst.report import trust
from loganalyst.report.common.rows import Row
from loganalyst.report.common.sparkseries import Series, chart
from loganalyst.report.common.wording import clean, percent
from loganalyst.report.diagnosis.baseline import rows as baseline_rows
from loganalyst.report.diagnosis.causetext import CauseText, cause_text
from loganalyst.report.diagnosis.deciding import decider_text
from loganalyst.report.diagnosis.headline import headline
from loganalyst.report.diagnosis.observed import normally, observed, repeats
from loganalyst.report.diagnosis.overview import advice, gaps, keep, restart
from loganalyst.report.diagnosis.processrows import process_rows
from loganalyst.report.diagnosis.remedies import scripts
from loganalyst.report.diagnosis.ruledout import Excluded, grouped, not_logged, to_log
from loganalyst.report.diagnosis.runnumbers import best, facts
from loganalyst.report.diagnosis.setup import setup, training
from loganalyst.report.diagnosis.showncurves import shown_curves
from loganalyst.report.diagnosis.starts import session_rows, starts_text
from loganalyst.report.diagnosis.stepwords import named_by
from loganalyst.report.diagnosis.timelinerows import timeline_rows
from loganalyst.report.diagnosis.verdict import Tone, verdict_and_tone
from loganalyst.report.diagnosis.watchlist import watch

TRACKERS = {"tensorboard": "TensorBoard", "wandb": "W&B"}  # the names of their files mean nothing to people


class Document(msgspec.Struct, frozen=True):
    """What every renderer lays out. `headline` is the run's state and extent, `verdict` the answer in one line, `tone`
    its colour. `less_likely` are rivals that are not causes, with their remaining confidence. `perhaps` are rivals of a
    doubted healthy run, with what would decide.
    """

    name: str
    path: str
    headline: str
    sources: tuple[str, ...]
    tone: Tone
    verdict: str
    sure: str
    causes: tuple[CauseText, ...]
    symptoms: tuple[str, ...]
    observed: tuple[Row, ...]  # each symptom, with what was expected
    normally: str  # what was expected in place of the symptom that the first cause explains
    repeats: str  # whether the fault is reproducible
    told: tuple[Row, ...]
    baseline: tuple[Row, ...]
    series: tuple[Series, ...]
    onset: str
    timeline: tuple[Row, ...]
    less_likely: tuple[Row, ...]
    perhaps: tuple[Row, ...]
    ruled_out: tuple[Excluded, ...]
    not_supported: tuple[Excluded, ...]
    not_applicable: tuple[str, ...]
    not_judged: tuple[Excluded, ...]
    not_logged: tuple[str, ...]
    to_log: tuple[str, ...]
    decide: tuple[str, ...]
    scripts: tuple[Row, ...]  # that would decide an unsure diagnosis
    quick_fixes: tuple[Row, ...]
    best: tuple[str, ...]
    advice: Row | None
    keep: str  # the checkpoint with the best value, as a path
    restart: Row | None
    watch: tuple[Row, ...]
    setup: tuple[Row, ...]
    training: str  # its kind, in words; empty if not known
    facts: tuple[Row, ...]
    processes: tuple[Row, ...]
    sessions: tuple[Row, ...]
    starts: str  # how many, and how they ended; empty for a single start
    faulty_starts: bool
    gaps: tuple[Row, ...]
    ignored: tuple[str, ...]
    notes: tuple[Row, ...]
    settings: tuple[Row, ...]  # obeyed or not obeyed


def document(diagnosis: Diagnosis, top: int = 5, cells: int = 48) -> Document:
    """Put a diagnosis into words: at most `top` causes, curves as rows of at most `cells` levels."""
    d = diagnosis
    causes = d.causes[: max(top, 1)]
    onset = _onset(d)
    answer, tone = verdict_and_tone(d)
    return Document(
        name=clean(d.run.name or d.run.path.name or "run", 80),
        path=clean(d.run.path),
        headline=headline(d),
        sources=tuple(dict.fromkeys(TRACKERS.get(s.format, clean(s.path, 60)) for s in d.run.sources if s.format)),
        tone=tone,
        verdict=answer,
        sure=percent(d.confidence) if d.status not in ("insufficient_data", "unreadable") else "",
        causes=tuple(cause_text(c, d, lead=i == 0) for i, c in enumerate(causes)),
        symptoms=tuple(clean(s.text or s.title, 240) for s in d.symptoms),
        observed=tuple(observed(d)),
        normally=normally(d),
        repeats=repeats(d),
        told=tuple(_reported(item) for item in d.summary.get("told_symptoms", ())),
        baseline=tuple(Row(*row) for row in baseline_rows(d.baseline)) if d.baseline else (),
        series=chart(shown_curves(d), onset, cells),
        onset=named_by(d)(onset) if onset is not None else "",
        timeline=timeline_rows(d.timeline, named_by(d)),
        less_likely=tuple(map(_alternative, d.alternatives)),
        perhaps=tuple(_perhaps(rival, d) for rival in d.rivals),
        ruled_out=grouped(r for r in d.ruled_out if r.verdict != "not_applicable"),
        not_supported=grouped(d.not_supported),
        not_applicable=tuple(clean(r.title, 120) for r in d.ruled_out if r.verdict == "not_applicable"),
        not_judged=grouped(replace(rule, rival=False) for rule in d.unknown),  # one group for each need
        not_logged=not_logged(d),
        to_log=to_log(d),
        decide=tuple(decider_text(decider, d) for decider in d.decide),
        scripts=tuple(scripts(d)),
        quick_fixes=tuple(Row(clean(q.change), _gain(q)) for q in d.quick_fixes[:top]),
        best=best(d),
        advice=advice(d),
        keep=keep(d),
        restart=restart(d),
        watch=tuple(watch(d)),
        setup=tuple(setup(d)),
        training=clean(training(d), 200),
        facts=tuple(facts(d)),
        processes=process_rows(d),
        sessions=session_rows(d.sessions),
        starts=starts_text(d.sessions),
        faulty_starts=len(d.sessions) > 1 and any(s.label for s in d.sessions),
        gaps=tuple(gaps(d)),
        ignored=tuple(map(clean, d.ignored_findings)),
        notes=tuple(Row(clean(n.text, 240) + _not_ours(n.origin), clean(n.change, 240)) for n in d.notes),
        settings=trust.rows(d),
    )


def _onset(d: Diagnosis) -> int | None:
    """The step to mark in the curves: where the first cause, or a symptom, began."""
    began = [c.onset_step for c in d.causes[:1]] + [s.step for s in d.symptoms]
    onset = next((at for at in began if at is not None), None)
    shows_nothing = onset in (0, d.summary.get("last_step"))  # a mark at either end of the curves
    return None if shows_nothing else onset


def _not_ours(origin: str) -> str:
    """` (not ours: FILE)`."""
    file = trust.foreign(origin)
    return f" (not ours: {file})" if file else ""


def _gain(fix: QuickFix) -> str:
    """`impact 75 %, 84 % sure`."""
    return f"impact {percent(fix.impact)}, {percent(fix.confidence)} sure"


def _reported(item: Mapping[str, Any]) -> Row:
    return Row(clean(item["text"]), clean(item["answer"]))


def _perhaps(rival: Rival, d: Diagnosis) -> Row:
    """A cause that a doubted healthy run may have, and what would decide."""
    return Row(
        f"{clean(rival.title, 120)} {percent(rival.confidence)}",
        "; ".join(decider_text(decider, d) for decider in rival.decide),
    )


def _alternative(other: Alternative) -> Row:
    """A less likely cause, with the evidence for it and against it."""
    reasons = "; ".join(filter(None, (*other.supported_by, other.why and f"but {other.why}")))
    return Row(f"{clean(other.title, 120)} {percent(other.probability)}", clean(reasons, 300))
