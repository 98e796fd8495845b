"""Whether a fix helped: the verdict, then the changes, promises and symptoms of each cause. Also as JSON."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from loganalyst.model import CauseCheck, Diagnosis, Verification
from loganalyst.report import trust
from loganalyst.report.common.jsonvalues import dumps, plain
from loganalyst.report.common.layout import MAX_WIDTH, field, printed, text, two_ended, wrapped
from loganalyst.report.common.wording import clean, percent, shortlist
from loganalyst.report.diagnosis.baseline import change

if TYPE_CHECKING:
    from rich.text import Text

__all__ = ["SCHEMA_ID", "data", "render", "render_json"]

SCHEMA_ID = "loganalyst/verification/1"
VERDICTS = {
    "fixed": ("✓", "Fixed", "bold green"),
    "partly": ("✗", "Partly fixed", "bold yellow"),
    "not": ("✗", "Not fixed", "bold red"),
    "new_problem": ("✗", "Another problem", "bold red"),
    "cannot_tell": ("?", "Cannot tell", "bold yellow"),
}
ANSWER = {True: ("✓", "green"), False: ("✗", "red"), None: ("?", "yellow")}
KEPT = {True: "kept", False: "not kept", None: "not known"}
GONE = {True: "gone", False: "still seen", None: "not known"}
NO_CHANGE = "no setting was changed that could fix it"
UNKNOWN = "not known: the fix is not a setting, or settings are not logged"
MAX_CHANGES = 4


def render(found: Verification, *, width: int = 100, colour: bool = False, ascii_only: bool = False) -> str:
    """The report for a terminal, at most `width` columns wide, with ANSI colours if `colour`."""
    width = max(min(width, MAX_WIDTH), 40)
    lines = list(_verdict(found, width))
    titled = len(found.checks) > 1 or found.outcome == "new_problem"  # otherwise the verdict names the only cause
    for check in found.checks:
        lines += [*([text(), *_title(check, width)] if titled else []), *_check(check, width)]
    lines += [line for row in _remarks(found) for line in field(*row, width, 2)]
    return printed(lines, width=width, colour=colour, ascii_only=ascii_only)


def _verdict(found: Verification, width: int) -> "Iterator[Text]":
    mark, word, style = VERDICTS[found.outcome]
    issue = found.checks[0].issue if found.outcome != "new_problem" else found.new_causes[0].issue
    names = f"{_name(found.old)} → {_name(found.new)}"
    yield from two_ended(text((f"{mark} {word}: {clean(issue, 120)}", style)), text((names, "dim")), width)


def _name(run: Diagnosis) -> str:
    return clean(run.run.name or run.run.path.name, 36)


def _title(check: CauseCheck, width: int) -> "list[Text]":
    mark, word, style = VERDICTS[check.outcome]
    confidence = text((f"was {percent(check.confidence)}", "dim") if check.confidence else "")
    return two_ended(text((f"{mark} {word}: ", style), (clean(check.issue, 120), "bold")), confidence, width)


def _check(check: CauseCheck, width: int) -> "Iterator[Text]":
    """The reason, the changes, the promises, and the symptoms."""
    why = clean(check.why)
    yield from wrapped(text(f"{why[:1].upper()}{why[1:]}."), width, indent=2)
    if check.missing:
        yield from field("Missing", clean("; ".join(check.missing)), width, 2)
    yield from field("Applied", _applied(check), width, 2)
    answers = [("Promised", e.holds, clean(e.ask, 200), KEPT) for e in check.expectations]
    answers += [("Symptoms", s.gone, clean(s.title, 160), GONE) for s in check.symptoms]
    for i, (label, answer, words, means) in enumerate(answers):
        again = i > 0 and answers[i - 1][0] == label
        content = text(ANSWER[answer], f" {words}: {means[answer]}")
        yield from field("" if again else label, content, width, 2)


def _applied(check: CauseCheck) -> str:
    """The changes that can fix the cause. If there are none: changes in the other direction."""
    if check.changes:
        return shortlist([*map(change, check.changes)], MAX_CHANGES, " · ")
    other = [f"but in the other direction: {change(c)}" for c in check.against[:2]]
    return " · ".join([NO_CHANGE if check.applied is False else UNKNOWN, *other])


def _remarks(found: Verification) -> Iterator[tuple[str, str]]:
    """New causes, lessons from failed fixes, and settings files."""
    for cause in found.new_causes:
        fix = f"; change: {clean(cause.fix[0].change)}" if cause.fix else ""
        yield "New", f"{clean(cause.issue, 120)} {percent(cause.confidence)}{fix}"
    for lesson in found.lessons:
        lowered = f"lowered from {percent(lesson.before)} to {percent(lesson.after)}"
        yield "Learned", f"{clean(lesson.issue, 120)}: {clean(lesson.text, 600)} ({lowered})"
    yield from ((row.label, row.text) for row in trust.rows(found.old, found.new))


def render_json(found: Verification, *, indent: int | None = 2) -> str:
    """The JSON text."""
    return dumps(data(found), indent)


def data(found: Verification) -> dict[str, Any]:
    """The JSON object, whose contract is `schema`."""
    whole = {
        "schema": SCHEMA_ID,
        "outcome": found.outcome,
        "old": _run(found.old),
        "new": _run(found.new),
        "checks": [asdict(check) for check in found.checks],
        "new_causes": [
            {"id": c.id, "label": c.label, "issue": c.issue, "confidence": c.confidence, "onset_step": c.onset_step}
            for c in found.new_causes
        ],
        "changes": [asdict(c) for c in found.new.baseline.changes] if found.new.baseline else [],
        "lessons": [asdict(lesson) for lesson in found.lessons],
        **trust.data(found.old, found.new),
    }
    return plain(whole)  # type: ignore[no-any-return]


def _run(d: Diagnosis) -> dict[str, Any]:
    last = d.summary.get("last_step")
    return {"id": d.run.id, "path": d.run.path, "name": d.run.name, "status": d.status, "last_step": last}
