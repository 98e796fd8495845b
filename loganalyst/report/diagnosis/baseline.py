"""The comparison of a run with its baseline: as rows of a document, most informative first, and as plain data."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from loganalyst.model import Baseline, Change, Parted
from loganalyst.report.common.curvemarks import RATE
from loganalyst.report.common.wording import clean, count, number, shortlist, step

MAX_CURVES, MAX_CHANGES = 3, 6  # named in a row
STATUS = {
    "healthy": "healthy",
    "diagnosis_complete": "not healthy itself",
    "cause_unknown": "not healthy itself",
    "insufficient_data": "too little logged to judge it",
}
DIRECTIONS = {"worse": "for the worse", "better": "for the better", "above": "upwards", "below": "downwards"}
MAX_NUMBER_LENGTH = 8  # characters; a longer number is rounded
CONFIG = "config"  # the section whose keys need no section name


def rows(b: Baseline) -> Iterator[tuple[str, str]]:
    """(label, text): the baseline, the suspect or why there is none, other changes, and where curves diverge."""
    status = STATUS.get(b.status)
    yield "Baseline", clean(f"{b.name or b.path}" + (f" ({status})" if status else ""))
    if b.suspect:
        yield "Changed", f"{change(b.suspect.change)}: most likely responsible, {clean(b.suspect.why)}"
    else:
        yield "Changed", f"no change can be held responsible: {clean(b.unknown)}"
    others = [change(c) for c in b.changes if b.suspect is None or c != b.suspect.change]
    if others:
        yield "Besides", shortlist(others, MAX_CHANGES, " · ")
    if diverged := [p for p in b.parted if p.role != RATE] or b.parted:  # a rate counts as a change
        yield "Diverged", shortlist([curve(p) for p in diverged], MAX_CURVES, " · ")
    if b.together:
        yield "Together", f"{count(len(b.together), 'metric')} within noise: {shortlist(b.together, MAX_CHANGES)}"
    for name in b.not_logged:
        yield "Not known", f"{name} logged no settings, so its changes are not known"


def change(c: Change) -> str:
    """`lr 0.001 → 0.05`, with the section unless the key already names it."""
    section = "" if c.section == CONFIG or c.section in c.key else f"{c.section}: "
    return f"{section}{clean(c.key, 80)} {_value(c.before)} → {_value(c.after)}"


def _value(logged: str | None) -> str:
    """A value as logged; a long number is rounded to four digits."""
    if logged is None:
        return "(not set)"
    try:
        return logged if len(logged) <= MAX_NUMBER_LENGTH else f"{float(logged):.4g}"
    except ValueError:
        return clean(logged, 60)


def curve(p: Parted) -> str:
    """Where a metric diverges, in which direction, for how long, and how far."""
    equal = f", equal until step {step(p.equal_until)}" if p.equal_until is not None else ""
    then = "" if p.final_step == p.step else ", together again at the end"
    if p.final_direction and p.final_step != p.step:
        then = f", from step {step(p.final_step)} on {DIRECTIONS[p.final_direction]}"
    levels = f"{number(p.ours)} against {number(p.theirs)} at the end{equal}"
    return f"{clean(p.metric, 80)} at step {step(p.step)} {DIRECTIONS[p.direction]}{then} ({levels})"


def data(b: Baseline) -> dict[str, Any]:
    """The object of the JSON contract."""
    suspect = {**asdict(b.suspect.change), "basis": b.suspect.basis, "why": b.suspect.why} if b.suspect else None
    return {
        "run": {"id": b.id, "path": b.path, "name": b.name, "status": b.status},
        "suspect": suspect,
        "unknown": b.unknown or None,
        "changes": [asdict(c) for c in b.changes],
        "parted": [asdict(p) for p in b.parted],
        "together": b.together,
        "not_logged": b.not_logged,
    }
