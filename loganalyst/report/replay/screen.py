"""What a replay found: the verdict, each cause before and after, each experiment and what it measured; also as JSON."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from loganalyst.model import Diagnosis, Experiment, Hypothesis, Measured, Replay
from loganalyst.report import trust
from loganalyst.report.common.layout import LABEL, MAX_WIDTH, bars, field, printed, shortened, text, two_ended, wrapped
from loganalyst.report.common.wording import clean, count, duration, number, percent, step
from loganalyst.report.diagnosis.asjson import plain
from loganalyst.report.diagnosis.sparkseries import EMPTY, LEVELS, NONFINITE, Series

if TYPE_CHECKING:
    from rich.text import Text

__all__ = ["SCHEMA_ID", "data", "facts", "headline", "render", "render_json"]

SCHEMA_ID = "loganalyst/replay/1"
MARKS = {"confirmed": ("✓", "green"), "refuted": ("✗", "red"), "open": ("·", "dim")}
SHOWN = 8  # hypotheses in a table; the rest are counted
NAMED = 2  # causes that an experiment speaks for, or against
CELLS = 40  # of a line of losses


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
    rest = [("Undecided", f"{e.name}: {e.text}") for e in undecided] + [("Next", words) for words in found.next_steps]
    lines += [text()] if rest else []
    lines += [line for label, words in rest for line in field(label, clean(words, 1200), width, 2)]
    return printed(lines, width=width, colour=colour, ascii_only=ascii_only)


def headline(found: Replay) -> str:
    """What came of it, in a few words."""
    confirmed = [h for h in found.hypotheses if h.verdict == "confirmed" and h.under is None]
    best = max(confirmed, key=lambda h: h.after, default=None)
    if best is not None and best.after >= 0.5:
        return f"Confirmed: {best.issue} ({percent(best.before)} → {percent(best.after)})"
    if found.ended == "three_refuted":
        return "Three hypotheses refuted: the cause is of another kind"
    if found.ended in ("budget", "failed"):
        return "Not decided: the replay was ended" if found.ended == "failed" else "Not decided within the budget"
    if found.ended in ("no_entry", "nothing_to_test"):
        return "Looked at without the training's code"
    refuted = sum(h.verdict == "refuted" for h in found.hypotheses)
    return f"Not decided; {count(refuted, 'hypothesis is', 'hypotheses are')} refuted"


def _verdict(found: Replay, width: int) -> "Iterator[Text]":
    words = headline(found)
    mark, style = ("✓", "bold green") if words.startswith("Confirmed") else ("?", "bold yellow")
    run = found.before.run
    name = clean(run.name or run.path.name, 36)
    yield from two_ended(text((f"{mark} {clean(words, 160)}", style)), text((name, "dim")), width)


def facts(found: Replay) -> Iterator[tuple[str, str]]:
    """What was replayed, where, and why it ended."""
    where = "the training's start" if found.checkpoint is None else str(found.checkpoint)
    told = f", after step {step(found.step)}" if found.step is not None and found.checkpoint is not None else ""
    yield "From", f"{where}{told}; the logs show the fault at step {step(found.onset)}"
    if found.device:
        yield "Ran", f"{found.entry} on {found.device}, {duration(found.seconds)}"
    yield "Ended", found.why
    for note in found.notes:
        yield "Note", note
    yield from ((row.label, row.text) for row in trust.rows(found.before))


def _table(hypotheses: Sequence[Hypothesis], width: int) -> "Iterator[Text]":
    """Each cause with its confidence before and after."""
    shown = hypotheses[:SHOWN]
    room = max(min(max(len(h.issue) for h in shown), width - 38), 12)
    yield text((f"  {'cause':<{room + 2}}{'before':>11}{'after':>11}", "dim"))
    for h in shown:
        mark, style = MARKS[h.verdict]
        name = shortened(clean(h.issue, 200), room)
        said = "follows" if h.under else h.verdict
        row = f" {name:<{room}}{percent(h.before):>11}{percent(h.after):>11}  {said}"
        yield text((f"  {mark}", style), row[: width - 3])
    if len(hypotheses) > SHOWN:
        yield text((f"  … and {len(hypotheses) - SHOWN} less likely ones", "dim"))


def _experiment(e: Experiment, titles: Mapping[str, str], width: int) -> "Iterator[Text]":
    """What it asks, what was stated before, what was found, of which causes (by id) that speaks, and the losses."""
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
        named = _some([title for _, title in heaviest])
        yield from field(label, clean(named, 400), width, 2) if named else ()
    run = next((r for r in e.runs if r.outcome == e.outcome), None)
    yield from _losses(run) if run else ()


def _some(titles: Sequence[str]) -> str:
    """The first few, and how many more."""
    more = f" and {len(titles) - NAMED} more" if len(titles) > NAMED else ""
    return ", ".join(titles[:NAMED]) + more


def _losses(run: Measured) -> "Iterator[Text]":
    """Every series as a line of bars, on one scale: that of the first."""
    width = max((len(name) for name in run.series), default=0)
    finite = [v for values in run.series.values() for v in values[:1] if abs(v) < float("inf")]
    for name, values in run.series.items():
        cells = tuple(_cells(values, max(finite, default=1.0)))
        line = text(f"  {clean(name, 40):<{width}}  ").append_text(bars(Series(name, "", cells, "", None, True, "")))
        yield line.append(f"  {_ends(values)}", "dim")


def _ends(values: Sequence[float]) -> str:
    return f"{number(values[0])} → {number(values[-1])}" if values else "no step"


def _cells(values: Sequence[float], first: float) -> list[int]:
    """Levels of a line of bars: the loss from 0 to three times the first one, what is not finite, what was not run."""
    found = []
    for i in range(min(CELLS, len(values))):
        part = values[i * len(values) // min(CELLS, len(values)) : (i + 1) * len(values) // min(CELLS, len(values))]
        worst = next((v for v in part if not abs(v) < float("inf")), max(part, default=0.0))
        level = LEVELS * max(worst, 0.0) / (3 * abs(first) or 1.0) if abs(worst) < float("inf") else None
        found.append(NONFINITE if level is None else int(min(level, LEVELS - 1)))
    return found or [EMPTY]


def render_json(found: Replay, *, indent: int | None = 2) -> str:
    """The JSON text (ASCII)."""
    return json.dumps(data(found), indent=indent, allow_nan=False)


def data(found: Replay) -> dict[str, Any]:
    """The object of the contract that `schema` describes."""
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
    return {key: plain(value) for key, value in whole.items()}


def _causes(d: Diagnosis) -> dict[str, Any]:
    names = ("id", "label", "issue", "confidence", "band")
    causes = [{name: getattr(c, name) for name in names} for c in d.causes]
    return {"status": d.status, "confidence": d.confidence, "root_causes": causes}
