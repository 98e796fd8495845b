"""A diagnosis as one neutral document. All wording, rounding and choosing happens here; renderers only lay it out.

Every text of a document is one clean line. Log text and metric names are untrusted and lose their control characters.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import msgspec

from loganalyst.model import (
    Alternative,
    Cause,
    CodeTemplate,
    Curve,
    Decider,
    Diagnosis,
    Evidence,
    Fix,
    Place,
    QuickFix,
    Rival,
    SessionSummary,
    TimelineEvent,
)
from loganalyst.report import trust
from loganalyst.report.common.rows import Row
from loganalyst.report.common.sparkseries import Series, chart
from loganalyst.report.common.wording import clean, count, duration, number, percent, span, step
from loganalyst.report.diagnosis.baseline import rows as baseline_rows
from loganalyst.report.diagnosis.observed import nan_began, normally, observed, repeats
from loganalyst.report.diagnosis.overview import advice, gaps, keep, restart
from loganalyst.report.diagnosis.processrows import process_rows
from loganalyst.report.diagnosis.raisederror import raised
from loganalyst.report.diagnosis.remedies import scripts
from loganalyst.report.diagnosis.ruledout import (
    JOB_LOG,
    Excluded,
    grouped,
    joined,
    not_logged,
    to_log,
    unnamed_metric,
    words,
)
from loganalyst.report.diagnosis.runnumbers import best, facts
from loganalyst.report.diagnosis.setup import setup, training
from loganalyst.report.diagnosis.watchlist import watch

__all__ = ["CauseText", "Document", "EvidenceText", "Excluded", "Row", "document", "shown_curves", "verdict", "written"]

ENDS = {  # where nothing states the end
    "finished": "REACHED ITS END",
    "early_stopped": "STOPPED EARLY",
    "stopped_early_unexplained": "STOPPED",
}
STATES = {
    "finished": "FINISHED",
    "stopped_early": "STOPPED EARLY",
    "failed": "FAILED",
    "killed": "KILLED",
    "preempted": "PREEMPTED",
    "cancelled": "CANCELLED",
    "timeout": "TIMED OUT",
    "node_fail": "NODE FAILED",
    "running": "STILL RUNNING",
    "unknown": "LAST SEEN",
}
TRACKERS = {"tensorboard": "TensorBoard", "wandb": "W&B"}  # the names of their files mean nothing to people
BASIS = {"high": "sure", "medium": "likely", "low": "a guess so far"}
CONFIG = "config"  # as features name what they need
FILES = (  # needs that are files: given, not logged
    JOB_LOG, CONFIG, "SLURM accounting", "checkpoints", "inspected checkpoints", "two checkpoints", "a profile",
    "stacks", "flight-recorder dumps", "logs with", "the job logs", "the optimiser's",
)  # fmt: skip
MAX_STARTS = 50
# What to draw after the curves that a cause names, in this order
SHOWN_ROLES = ("train_loss", "rl_loss", "val_loss", "reward", "grad_norm", "learning_rate", "loss_scale")
MAX_SERIES = 4
MIN_ORDER_CONFIDENCE = 0.8  # from here on the order of two events is stated
TRACEBACK_HEAD = "Traceback (most recent call last):"  # left out: the error it leads to is an event of its own
MAX_PLACE = 48  # characters of a file's path; a longer path shows its end


class EvidenceText(msgspec.Struct, frozen=True):
    """One item of evidence: whether it supports the cause (None = not known), its text, kind and place.

    An item that does not hold may support a cause, and an item that holds may contradict it. `place` is `file:line`, or
    empty.
    """

    supports: bool | None
    text: str
    kind: str
    place: str


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


class Document(msgspec.Struct, frozen=True):
    """What every renderer lays out. `headline` is the run's state and extent, `verdict` the answer in one line, `tone`
    its colour. `less_likely` are rivals that are not causes, with their remaining confidence. `perhaps` are rivals of a
    doubted healthy run, with what would decide.
    """

    name: str
    path: str
    headline: str
    sources: tuple[str, ...]
    tone: Literal["good", "bad", "unsure"]
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
    began = [c.onset_step for c in causes[:1]] + [s.step for s in d.symptoms]
    onset = next((at for at in began if at is not None), None)
    if onset in (0, d.summary.get("last_step")):  # a mark at either end of the curves shows nothing
        onset = None
    answer, tone = _verdict(d)
    return Document(
        name=clean(d.run.name or d.run.path.name or "run", 80),
        path=clean(d.run.path),
        headline=_headline(d),
        sources=tuple(dict.fromkeys(TRACKERS.get(s.format, clean(s.path, 60)) for s in d.run.sources if s.format)),
        tone=tone,
        verdict=answer,
        sure=percent(d.confidence) if d.status not in ("insufficient_data", "unreadable") else "",
        causes=tuple(_cause(c, d, lead=i == 0) for i, c in enumerate(causes)),
        symptoms=tuple(clean(s.text or s.title, 240) for s in d.symptoms),
        observed=tuple(observed(d)),
        normally=normally(d),
        repeats=repeats(d),
        told=tuple(_reported(item) for item in d.summary.get("told_symptoms", ())),
        baseline=tuple(Row(*row) for row in baseline_rows(d.baseline)) if d.baseline else (),
        series=chart(shown_curves(d), onset, cells),
        onset=step(onset) if onset is not None else "",
        timeline=tuple(
            Row(_when(e), clean(e.text) + _order(e)) for e in d.timeline if not e.text.endswith(TRACEBACK_HEAD)
        ),
        less_likely=tuple(map(_alternative, d.alternatives)),
        perhaps=tuple(_perhaps(rival, d) for rival in d.rivals),
        ruled_out=grouped(r for r in d.ruled_out if r.verdict != "not_applicable"),
        not_supported=grouped(d.not_supported),
        not_applicable=tuple(clean(r.title, 120) for r in d.ruled_out if r.verdict == "not_applicable"),
        not_judged=grouped(replace(rule, rival=False) for rule in d.unknown),  # one group for each need
        not_logged=not_logged(d),
        to_log=to_log(d),
        decide=tuple(_decider(decider, d) for decider in d.decide),
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
        sessions=_sessions(d.sessions),
        starts=_starts(d.sessions),
        faulty_starts=len(d.sessions) > 1 and any(s.label for s in d.sessions),
        gaps=tuple(gaps(d)),
        ignored=tuple(map(clean, d.ignored_findings)),
        notes=tuple(Row(clean(n.text, 240) + _not_ours(n.origin), clean(n.change, 240)) for n in d.notes),
        settings=trust.rows(d),
    )


def _headline(d: Diagnosis) -> str:
    """`FAILED at step 24,650 of 50,000 after 3 h 12 min`, as far as these are known."""
    if d.status == "unreadable":
        return "UNREADABLE"
    last, planned = _last_step(d), d.features.values.get("run_planned_steps")
    text = STATES[d.run.status]
    end = str(d.features.values.get("run_end")) if d.run.status == "unknown" else ""
    without = last is None and d.run.status == "unknown"
    if last is not None:
        of = int(planned) if isinstance(planned, (int, float)) and planned >= last else None
        text = ENDS.get(end, text)
        text += _where(d, last) + (f" of {step(of)}" if of else _epochs(d, end))
    elif without:
        text = "NO STEP LOGGED"
    seconds = d.summary.get("duration_s")
    joined_by = " in" if without else " and" if " after " in text else " after"  # "after 30 logged rows and 4 min"
    text += f"{joined_by} {duration(seconds)}" if seconds and seconds >= 1 else ""
    text += "; no step was logged" if last is None and not without else ""
    text += ", nothing shows why" if end == "stopped_early_unexplained" and not d.causes else ""
    otherwise = d.features.values.get("run_status_otherwise")
    return text + (f" (though {clean(otherwise, 120)})" if otherwise else "")


def _last_step(d: Diagnosis) -> int | None:
    """The last step of the curves; without one, the last that a process printed."""
    printed = (process.last_step for process in d.processes if process.last_step is not None)
    last = d.summary.get("last_step")
    if last == 0 and d.features.values.get("run_steps_are_rows"):
        return None
    return max(printed, default=None) if last is None else int(last)


def _where(d: Diagnosis, last: int) -> str:
    """` at step 24,650`; where the log has no such steps, how much of it there is."""
    if d.features.values.get("run_steps_are_rows"):
        return f" after {count(last + 1, 'logged row')}"
    begins_late = d.features.values.get("train_loss_begins_late") and d.run.points["step"].min() in (0, 1)
    return f" at step {step(last)}" + (" of the logged part" if begins_late else "")


def _epochs(d: Diagnosis, end: str) -> str:
    """` (epoch 47 of 100)` of a run that stopped before its plan."""
    if end not in ("early_stopped", "stopped_early_unexplained"):
        return ""
    done, planned = (d.features.values.get(name) for name in ("run_epochs", "config_epochs"))
    if not isinstance(done, float) or not isinstance(planned, float):
        return ""
    return f" (epoch {number(done)} of {number(planned)})"


def verdict(d: Diagnosis) -> str:
    """The answer in one line."""
    return _verdict(d)[0]


def _verdict(d: Diagnosis) -> tuple[str, Literal["good", "bad", "unsure"]]:
    if d.causes and d.causes[0].verdict == "likely":
        return _title(d.causes[0], d), "bad"
    if d.status == "healthy" and d.ignored_findings:
        return "Nothing found but what loganalyst.yaml accepts", "good"
    if d.status == "healthy":
        judged = sum(r.verdict == "unlikely" for r in (*d.ruled_out, *d.not_supported))
        return "Healthy: " + (f"none of the {judged} causes looked for" if judged else "no symptom found"), "good"
    if d.status == "unreadable":
        return "Nothing could be read here", "unsure"
    if d.status == "insufficient_data":
        read = f"{count(d.run.points.height, 'point')} of {count(len(d.metrics), 'metric')}"
        what = (
            "No metric is known as a loss, score or reward"
            if unnamed_metric(d)
            else "Not enough was logged to judge this run"
        )
        return f"{what}: {read}", "unsure"
    return "Something went wrong, but the logs do not show why", "unsure"


def _title(cause: Cause, d: Diagnosis) -> str:
    """The title of the first cause, after the place where NaN began if the cause concerns it."""
    began = nan_began(d) if _concerns_nan(cause, d) else ""
    title = clean(cause.issue, 120)
    return f"{began}: {title}" if began else title


def _concerns_nan(cause: Cause, d: Diagnosis) -> bool:
    """Whether the cause explains values that are not finite: its own evidence or symptoms name them."""
    nonfinite = {*d.findings.filter(kind="nonfinite")["metric"]}
    named = {e.metric for e in cause.evidence if e.holds} | {s.metric for s in d.symptoms if s.id in cause.symptoms}
    operation = d.features.values.get("log_root_operation")
    return bool(nonfinite & named) or bool(operation and any(str(operation) in s.text for s in d.symptoms))


def _cause(cause: Cause, d: Diagnosis, *, lead: bool) -> CauseText:
    place = _place_of(cause, d)
    return CauseText(
        id=cause.id,
        title=_title(cause, d) if lead and cause.verdict == "likely" else clean(cause.issue, 120),
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
        evidence=tuple(_evidence(e) for e in _ordered(cause.evidence)),
        will_not_fix=clean(cause.will_not_fix, 1000),
        side_effects=clean(cause.side_effects, 1000),
        prevention=clean(cause.prevention, 1000),
        references=tuple(clean(r) for r in cause.references),
        consequences=tuple(clean(c) for c in cause.consequences),
        decide=tuple(_decider(decider, d, cause) for decider in cause.decide),
        origin=trust.foreign(cause.origin),
        limited=clean("; ".join(cause.limits), 400),
    )


def _not_ours(origin: str) -> str:
    """` (not ours: FILE)`."""
    file = trust.foreign(origin)
    return f" (not ours: {file})" if file else ""


def _decider(decider: Decider, d: Diagnosis, cause: Cause | None = None) -> str:
    """What to do to settle the question: log or give what is missing, or make a change.

    A cause already shows its change. A metric that has too few values is to be logged more often.
    """
    if decider.kind == "experiment":
        change = "make the change: if the check holds, this is the cause"
        return change if cause else f"try: {clean(decider.what)}; then {clean(decider.check)}"
    what = clean(decider.what)
    others = [f'"{clean(title, 120)}"' for title in decider.separates if cause is None or title != cause.issue][:2]
    distinguishes = (
        f" (distinguishes {'it from ' if cause else ''}{joined(others)})" if others[0 if cause else 1 :] else ""
    )
    if what.startswith(FILES):
        return f"give {'the config of the run' if what == CONFIG else what}{distinguishes}"
    often = " more often" if any(m.role == what for m in d.metrics) else ""
    return f"log {words(what)}{often}{distinguishes}"


def _gain(fix: QuickFix) -> str:
    """`impact 75 %, 84 % sure`."""
    return f"impact {percent(fix.impact)}, {percent(fix.confidence)} sure"


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
        return clean("; ".join(map(_event, first[:3])))
    held = [e.text for e in _ordered(cause.evidence) if _supports(e)]
    return clean("; ".join(held[:2]) or cause.summary)


def _when(event: TimelineEvent) -> str:
    """The step of an event, or the time of day."""
    if event.step is not None:
        return f"step {step(event.step)}"
    return f"{event.time:%H:%M:%S}" if event.time is not None else ""


def _order(event: TimelineEvent) -> str:
    """The metric that left its course before this one, or at about the same time."""
    if event.after is None or event.lag is None or event.confidence is None:
        return ""
    if event.confidence < MIN_ORDER_CONFIDENCE:
        return f", at about the same time as {clean(event.after)}"
    return f", {count(event.lag, 'step')} after {clean(event.after)} ({percent(event.confidence)} sure)"


def _event(event: TimelineEvent) -> str:
    return event.text + (f" at step {step(event.step)}" if event.step is not None else "")


def _ordered(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Supporting evidence, then contradicting, then unknown; within each, direct evidence first, then by weight.

    The same words appear once. An item that does not hold and did not count is left out, and so is one that states the
    same fact as a stronger item of its group.
    """
    rank = {True: 0, False: 1, None: 2}
    stated = {e.group for e in evidence if e.holds and e.weight}
    counted = [e for e in evidence if e.text and (e.weight or e.holds is None or (e.holds and e.group not in stated))]
    ranked = sorted(counted, key=lambda e: (rank[_supports(e)], e.kind != "direct", -abs(e.weight)))
    once = list({(_supports(e), e.text): e for e in reversed(ranked)}.values())[::-1]
    return [e for e in once if not any(e.text in o.text and o is not e and _supports(o) is _supports(e) for o in once)]


def _supports(e: Evidence) -> bool | None:
    return None if e.holds is None else e.weight > 0 or (e.holds and not e.weight)


def _evidence(e: Evidence) -> EvidenceText:
    file = e.file if e.line is not None or e.metric is None else None  # a curve's file means nothing without a line
    text = e.text if e.holds is not None else words(e.text.removeprefix("not known: "), 1000)
    return EvidenceText(_supports(e), clean(text, 240), e.kind, _place(file, e.line))


def _fix(fix: Fix) -> Fix:
    places = tuple(Place(clean(p.file), p.line, clean(p.key, 80), clean(p.value, 80)) for p in fix.places)
    return Fix(clean(fix.change), clean(fix.expected_impact), clean(fix.verify), clean(fix.if_not), places)


def written(fix: Fix) -> str:
    """Where the setting to change is written: `train.py:12 lr = 0.003`."""
    return "; ".join(f"{_place(p.file, p.line)} {p.key} = {p.value}" for p in fix.places)


def _place(file: str | None, line: int | None, rank: int | None = None, node: str | None = None) -> str:
    """`train.log:12, rank 3, node n07`, as far as these are known."""
    named = clean(file, 1000)
    short = named if len(named) <= MAX_PLACE else f"…{named[-MAX_PLACE:]}"
    parts = [short + (f":{line}" if line is not None else "")] if file else []
    parts += [f"rank {rank}"] if rank is not None else []
    parts += [f"node {clean(node, 80)}"] if node else []
    return ", ".join(parts)


def _place_of(cause: Cause, d: Diagnosis) -> str:
    """`train.log:12, rank 3, node n07`. Where another rank than the first one printed the line: `train.log:12, rank 4;
    rank 3 was first`.
    """
    file = cause.file if cause.line is not None else None
    printers = d.run.lines.filter(file=cause.file, line=cause.line)["rank"].drop_nulls().to_list() if file else []
    if not printers or cause.rank is None or cause.rank in printers:
        return _place(file, cause.line, cause.rank, cause.node)
    first = _place(None, None, cause.rank, cause.node)
    return f"{_place(file, cause.line, printers[0])}; {first} was first"


def shown_curves(d: Diagnosis) -> list[Curve]:
    """The curves to draw: those that the first cause and the symptoms name, then the usual ones, at most four."""
    lead = d.causes[:1]
    named = [c.metric for c in lead] + [e.metric for c in lead for e in c.evidence if e.holds]
    named += [s.metric for s in d.symptoms]
    named += [m for c in lead for e in c.evidence if e.holds for m in e.metrics]
    by_name = {c.metric: c for c in d.curves if len(c.values)}
    chosen = [by_name[m] for m in dict.fromkeys(named) if m in by_name]
    for role in SHOWN_ROLES:
        of_role = [c for c in by_name.values() if c.role.name == role]
        if of_role and not any(c.role.name == role for c in chosen):
            chosen.append(max(of_role, key=lambda c: len(c.values)))
    order = {role: i for i, role in enumerate(SHOWN_ROLES)}
    return sorted(chosen[:MAX_SERIES], key=lambda c: order.get(c.role.name, len(order)))


def _reported(item: Mapping[str, Any]) -> Row:
    return Row(clean(item["text"]), clean(item["answer"]))


def _perhaps(rival: Rival, d: Diagnosis) -> Row:
    """A cause that a doubted healthy run may have, and what would decide."""
    return Row(
        f"{clean(rival.title, 120)} {percent(rival.confidence)}",
        "; ".join(_decider(decider, d) for decider in rival.decide),
    )


def _alternative(other: Alternative) -> Row:
    """A less likely cause, with the evidence for it and against it."""
    reasons = "; ".join(filter(None, (*other.supported_by, other.why and f"but {other.why}")))
    return Row(f"{clean(other.title, 120)} {percent(other.probability)}", clean(reasons, 300))


def _sessions(sessions: Sequence[SessionSummary]) -> tuple[Row, ...]:
    """The last starts of several. If there are more than are shown, a row on all of them comes first."""
    if len(sessions) < 2:
        return ()
    summary = [Row("all", f"{_starts(sessions)}; the last {MAX_STARTS} follow")]
    return (*(summary if len(sessions) > MAX_STARTS else ()), *map(_session, sessions[-MAX_STARTS:]))


def _starts(sessions: Sequence[SessionSummary]) -> str:
    if len(sessions) < 2:
        return ""
    counts = Counter(s.label for s in sessions if s.label).most_common(3)
    faults = ", ".join(f"{count:,} {label}" for label, count in counts)
    return f"{len(sessions):,}" + (f" ({faults})" if faults and len(sessions) > 3 else "")


def _session(s: SessionSummary) -> Row:
    several = "s" if s.first_line != s.last_line else ""
    lines = f", line{several} {span(s.first_line, s.last_line)}" if s.first_line is not None else ""
    job = f"job {s.job}: " if s.job else ""
    place = _place(s.file, s.line, s.rank, s.node)
    why = f" ({', '.join(filter(None, (s.label, place)))})" if s.label else ""
    return Row(f"start {s.index + 1}", clean(job + s.status + why + lines))
