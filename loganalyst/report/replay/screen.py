"""The result of a replay: verdict, each cause before and after, each experiment and its measurement. Also as JSON."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from loganalyst.model import Diagnosis, Experiment, Hypothesis, Measured, Replay
from loganalyst.report import trust
from loganalyst.report.common.jsonvalues import dumps, plain
from loganalyst.report.common.layout import LABEL, MAX_WIDTH, bars, field, printed, shortened, text, two_ended, wrapped
from loganalyst.report.common.sparkseries import EMPTY, LEVELS, NONFINITE, Series
from loganalyst.report.common.wording import clean, count, duration, number, percent, shortlist, step

if TYPE_CHECKING:
    from rich.text import Text

__all__ = ["SCHEMA_ID", "data", "facts", "headline", "render", "render_json"]

SCHEMA_ID = "loganalyst/replay/1"
MARKS = {"confirmed": ("✓", "green"), "refuted": ("✗", "red"), "open": ("·", "dim")}
MAX_HYPOTHESES = 8  # rows of the table
MAX_NAMED_CAUSES = 2  # for and against which an experiment speaks
MAX_CELLS = 40  # of a line of losses
MAX_LOSS_RATIO = 3  # the top of a line of losses, relative to the first loss
MIN_CONFIRMED = 0.5  # the confidence from which on the headline names a confirmed cause


def render(found: Replay, *, width: int = 100, colour: bool = False, ascii_only: bool = False) -> str:
    """The report for a terminal, at most `width` columns wide, with ANSI colours if `colour`."""
    width = max(min(width, MAX_WIDTH), 40)
    lines = list(_verdict(found, width))
    lines += [line for row in facts(found) for line in field(row[0], clean(row[1], 1200), width, 2)]
    if found.hypotheses:
        lines += [text(), *_table(found.hypotheses, width)]
    titles = {h.id: h.issue for h in found.hypotheses}
    for experiment in found.experiments:
        if experiment.outcome in experiment.means:
            lines += [text(), *_experiment(experiment, titles, width)]
    undecided = [e for e in found.experiments if e.outcome not in e.means]
    remarks = [("Undecided", f"{e.name}: {e.text}") for e in undecided] + [
        ("Next", words) for words in found.next_steps
    ]
    lines += [text()] if remarks else []
    lines += [line for label, words in remarks for line in field(label, clean(words, 1200), width, 2)]
    return printed(lines, width=width, colour=colour, ascii_only=ascii_only)


def headline(found: Replay) -> str:
    """The result in a few words."""
    confirmed = [h for h in found.hypotheses if h.verdict == "confirmed" and h.under is None]
    best = max(confirmed, key=lambda h: h.after, default=None)
    if best is not None and best.after >= MIN_CONFIRMED:
        return f"Confirmed: {best.issue} ({percent(best.before)} → {percent(best.after)})"
    if found.ended == "three_refuted":
        return "Three hypotheses refuted: the cause is of another kind"
    if found.ended in ("budget", "failed"):
        return "Not decided: the replay failed" if found.ended == "failed" else "Not decided within the budget"
    if found.ended in ("no_entry", "nothing_to_test"):
        return "Inspected without the training's code"
    refuted = sum(h.verdict == "refuted" for h in found.hypotheses)
    return f"Not decided; {count(refuted, 'hypothesis is', 'hypotheses are')} refuted"


def _verdict(found: Replay, width: int) -> "Iterator[Text]":
    words = headline(found)
    mark, style = ("✓", "bold green") if words.startswith("Confirmed") else ("?", "bold yellow")
    run = found.before.run
    name = clean(run.name or run.path.name, 36)
    yield from two_ended(text((f"{mark} {clean(words, 160)}", style)), text((name, "dim")), width)


def facts(found: Replay) -> Iterator[tuple[str, str]]:
    """Checkpoint, device, and the reason why the replay ended."""
    where = "the training's start" if found.checkpoint is None else str(found.checkpoint)
    at = f", after step {step(found.step)}" if found.step is not None and found.checkpoint is not None else ""
    shown = "do not show the step of the fault" if found.onset is None else f"show the fault at step {found.onset:,}"
    yield "From", f"{where}{at}; the logs {shown}"
    if found.device:
        yield "Ran", f"{found.entry} on {found.device}, {duration(found.seconds)}"
    yield "Ended", found.why
    for note in found.notes:
        yield "Note", note
    yield from ((row.label, row.text) for row in trust.rows(found.before))


def _table(hypotheses: Sequence[Hypothesis], width: int) -> "Iterator[Text]":
    """Each cause with its confidence before and after."""
    shown = hypotheses[:MAX_HYPOTHESES]
    room = max(min(max(len(h.issue) for h in shown), width - 38), 12)
    yield text((f"  {'cause':<{room + 2}}{'before':>11}{'after':>11}", "dim"))
    for h in shown:
        mark, style = MARKS[h.verdict]
        name = shortened(clean(h.issue, 200), room)
        verdict = "follows" if h.under else h.verdict
        row = f" {name:<{room}}{percent(h.before):>11}{percent(h.after):>11}  {verdict}"
        yield text((f"  {mark}", style), row[: width - 3])
    if len(hypotheses) > MAX_HYPOTHESES:
        yield text((f"  … and {len(hypotheses) - MAX_HYPOTHESES} less likely causes", "dim"))


def _experiment(e: Experiment, titles: Mapping[str, str], width: int) -> "Iterator[Text]":
    """The question, the expected outcomes, the measurement, the causes it speaks for or against, and the losses."""
    runs = f"{count(len(e.runs), 'run')}"
    title = text((clean(e.name, 80), "bold"), f"  {clean(e.question, 300)}")
    yield from two_ended(title, text((runs, "dim")), width)
    for name, means in e.means.items():
        mark = "→" if name == e.outcome else " "
        style = "bold" if name == e.outcome else "dim"
        if len(e.means) <= 3 or name == e.outcome:
            lead = text((f"  {mark} {clean(name, 30)}", style))
            yield from wrapped(text((clean(means, 400), style)), width, lead, max(LABEL + 6, len(name) + 5))
    yield from field("Measured", clean(e.text, 800), width, 2)
    for label, way in (("For", 1), ("Against", -1)):
        heaviest = sorted(((-w * way, titles[id_]) for id_, w in e.weights.items() if w * way > 0 and id_ in titles))
        named = shortlist([title for _, title in heaviest], MAX_NAMED_CAUSES)
        yield from field(label, clean(named, 400), width, 2) if named else ()
    run = next((r for r in e.runs if r.outcome == e.outcome), None)
    yield from _losses(run) if run else ()


def _losses(run: Measured) -> "Iterator[Text]":
    """Every series as a line of bars, on a scale set by the largest first loss."""
    width = max((len(name) for name in run.series), default=0)
    finite = [v for values in run.series.values() for v in values[:1] if abs(v) < float("inf")]
    for name, values in run.series.items():
        cells = tuple(_cells(values, max(finite, default=1.0)))
        line = text(f"  {clean(name, 40):<{width}}  ").append_text(bars(Series(name, "", cells, "", None, True, "")))
        yield line.append(f"  {_ends(values)}", "dim")


def _ends(values: Sequence[float]) -> str:
    return f"{number(values[0])} → {number(values[-1])}" if values else "no step"


def _cells(values: Sequence[float], first: float) -> list[int]:
    """Levels of a line of bars, from 0 to MAX_LOSS_RATIO times the first loss, with marks for non-finite losses."""
    found = []
    cells = min(MAX_CELLS, len(values))
    for i in range(cells):
        part = values[i * len(values) // cells : (i + 1) * len(values) // cells]
        worst = next((v for v in part if not abs(v) < float("inf")), max(part, default=0.0))
        level = LEVELS * max(worst, 0.0) / (MAX_LOSS_RATIO * abs(first) or 1.0) if abs(worst) < float("inf") else None
        found.append(NONFINITE if level is None else int(min(level, LEVELS - 1)))
    return found or [EMPTY]


def render_json(found: Replay, *, indent: int | None = 2) -> str:
    """The JSON text."""
    return dumps(data(found), indent)


def data(found: Replay) -> dict[str, Any]:
    """The JSON object, whose contract is `schema`."""
    whole = {
        "schema": SCHEMA_ID,
        "run": {"id": found.before.run.id, "path": found.before.run.path, "name": found.before.run.name},
        "verdict": headline(found),
        "ended": found.ended,
        "why": found.why,
        "entry": found.entry,
        "checkpoint": found.checkpoint,
        "step": found.step,
        "onset": found.onset,
        "device": found.device,
        "seconds": found.seconds,
        "notes": found.notes,
        "hypotheses": [asdict(h) for h in found.hypotheses],
        "experiments": [{**asdict(e), "reproduced": e.reproduced} for e in found.experiments],
        "before": _causes(found.before),
        "after": _causes(found.after),
        "learned": found.learned,
        "next_steps": found.next_steps,
        "findings": [asdict(f) for f in found.inspection.findings] if found.inspection else [],
        **trust.data(found.before),
    }
    return plain(whole)  # type: ignore[no-any-return]


def _causes(d: Diagnosis) -> dict[str, Any]:
    names = ("id", "label", "issue", "confidence", "band")
    causes = [{name: getattr(c, name) for name in names} for c in d.causes]
    return {"status": d.status, "confidence": d.confidence, "root_causes": causes}
