"""The first screen: what happened, why, how sure, what to do, and the evidence. Lays out a Document with rich."""

from typing import TYPE_CHECKING

from loganalyst.model import Diagnosis
from loganalyst.report.common.layout import LABEL, MAX_WIDTH, curves, field, printed, text, two_ended, wrapped
from loganalyst.report.common.rows import Row
from loganalyst.report.common.wording import shortlist
from loganalyst.report.diagnosis.causetext import CauseText
from loganalyst.report.diagnosis.document import Document, document
from loganalyst.report.diagnosis.evidencetext import EvidenceText
from loganalyst.report.diagnosis.placenames import written

if TYPE_CHECKING:
    from rich.text import Text

TONE = {"good": ("✓", "bold green"), "bad": ("✗", "bold red"), "unsure": ("?", "bold yellow")}
MARK = {True: ("✓", "green"), False: ("✗", "dim"), None: ("?", "yellow")}
RAISED_WORDS = {"Error": "{}", "Frame": "at {}", "Rank": "by rank {}", "Ranks": "by ranks {}", "Printed": "printed {}"}
MAX_RIVALS = 2  # named after the first cause
# Items of evidence on the first screen: supporting, contradicting, unknown
MAX_EVIDENCE = {True: 5, False: 2, None: 2}


def render(
    diagnosis: Diagnosis, *, width: int = 100, colour: bool = False, ascii_only: bool = False, top: int = 5
) -> str:
    """The terminal report as text of at most `width` columns, with ANSI colours if `colour`."""
    width = max(min(width, MAX_WIDTH), 40)
    doc = document(diagnosis, top, cells=24 if width < 80 else 40)
    lines = _healthy(doc, width) if doc.tone == "good" else _full(doc, width)
    return printed(lines, width=width, colour=colour, ascii_only=ascii_only)


def _healthy(doc: Document, width: int) -> "list[Text]":
    """A few lines: how sure, the best value, notes, and what is not logged."""
    mark, style = TONE[doc.tone]
    lines = two_ended(
        text((f"{mark} {doc.name}", style), f"   {doc.verdict}"), text((f"{doc.sure} sure", "bold")), width
    )
    lines += wrapped(text(" · ".join([doc.headline.capitalize(), *doc.best[:2]])), width, indent=2)
    lines += field("Training", doc.training, width, 2) if doc.training else []
    lines += field("Decide", "; ".join(doc.decide), width, 2) if doc.decide else []
    instead = [f"{row.label} ({row.text})" if row.text else row.label for row in doc.perhaps]
    lines += field("Instead?", " · ".join(instead), width, 2) if instead else []
    lines += _baseline(doc, width, 2)
    lines += field(doc.advice.label, doc.advice.text, width, 2) if doc.advice else []
    lines += field("Keep", doc.keep, width, 2) if doc.keep else []
    lines += _notes(doc, width, 2) + _not_logged(doc, width, 2) + _reported(doc, width)
    return lines + (_sessions(doc, width, 2) if doc.faulty_starts else []) + _not_read(doc, width)


def _full(doc: Document, width: int) -> "list[Text]":
    lines = [*_headline(doc, width), *_training(doc, width), text(), *_verdict(doc, width)]
    drawn = curves(doc.series, doc.onset, width)
    lines += [text(), *drawn] if drawn else []
    sections = [
        *_restart(doc, width),
        *(field("Keep", doc.keep, width) if doc.keep else ()),
        *_baseline(doc, width),
        *(_evidence(doc.causes[0], width) if _lead(doc) else ()),
        *_normally(doc, width),
        *_instead(doc, width),
        *_quick(doc, width),
        *_reported(doc, width),
        *_not_logged(doc, width),
        *(_scripts(doc, width) if _guess(doc) else ()),
        *_after(doc, width),
        *_notes(doc, width),
        *_processes(doc, width),
        *_sessions(doc, width),
        *_not_read(doc, width),
    ]
    return [*lines, text(), *sections] if sections else lines


def _lead(doc: Document) -> CauseText | None:
    return doc.causes[0] if doc.causes and doc.causes[0].likely else None


def _guess(doc: Document) -> bool:
    """Whether a cause is stated that is little more than a guess."""
    lead = _lead(doc)
    return lead is not None and lead.basis.startswith("a guess")


def _normally(doc: Document, width: int) -> "list[Text]":
    """What was expected in place of the symptom, and whether the fault repeats."""
    if _lead(doc) is None:
        return []
    lines = field("Normally", doc.normally, width) if doc.normally else []
    return lines + (field("Repeats", doc.repeats, width) if doc.repeats and "not known" not in doc.repeats else [])


def _headline(doc: Document, width: int) -> "list[Text]":
    style = {"bad": "bold red", "unsure": "bold yellow"}.get(doc.tone, "bold")
    left = text((doc.name, "bold"), "   ", (doc.headline, style))
    return two_ended(left, text((shortlist(doc.sources, 3), "dim")), width)


def _training(doc: Document, width: int) -> "list[Text]":
    return wrapped(text((doc.training, "dim")), width) if doc.training else []


def _verdict(doc: Document, width: int) -> "list[Text]":
    """The likely causes with what to do. Without a likely cause: the symptoms and what to log."""
    lines: list[Text] = []
    for i, cause in enumerate(c for c in doc.causes if c.likely):
        lines += [text()] if i else []
        lines += _cause(cause, width)
    if lines:
        return lines
    mark, style = TONE[doc.tone]
    lines = wrapped(text((doc.verdict, style)), width, text((mark, style)), 2)
    for symptom in doc.symptoms[:3]:
        lines += wrapped(text(symptom), width, indent=2)
    lines += field("Normally", doc.normally, width, 2) if doc.normally else []
    if doc.decide:
        lines += field("Decide", "; ".join(doc.decide), width, 2)
    elif doc.to_log:
        lines += field("Log next", "; ".join(doc.to_log[:4]), width, 2)
    return lines + _scripts(doc, width, 2)


def _scripts(doc: Document, width: int, margin: int = 0) -> "list[Text]":
    """The scripts that would decide."""
    named = [f"{row.label}: {row.text}" for row in doc.scripts]
    return field("Scripts", f"loganalyst script {'; '.join(named)}", width, margin) if named else []


def _cause(cause: CauseText, width: int) -> "list[Text]":
    mark, style = TONE["bad"]
    lines = two_ended(
        text((f"{mark} {cause.title}", style)), text((cause.sure, "bold"), "  ", (cause.basis, "dim")), width
    )
    where = f"{cause.place}  " if cause.place else ""
    lines += wrapped(text((where, "bold"), cause.story), width, indent=2)
    lines += field("Not ours", f"this cause comes from {cause.origin}", width, 2) if cause.origin else []
    lines += _raised(cause, width)
    for fix in cause.fixes[:1]:
        parts = (("Change", fix.change), ("In", written(fix)), ("Expect", fix.expected_impact), ("Check", fix.verify))
        for label, words in parts:
            lines += field(label, words, width, 2) if words else []
    lines += field("Not surer", cause.limited, width, 2) if cause.limited else []
    if cause.basis.startswith("a guess") and cause.decide:
        lines += field("Decide", "; ".join(cause.decide), width, 2)
    return lines


def _raised(cause: CauseText, width: int) -> "list[Text]":
    """The parts of the traceback that the lines around it do not show."""
    shown = " ".join(
        [cause.story, cause.place, *(e.text for e in cause.evidence), *(f.change for f in cause.fixes[:1])]
    )
    new = [(row.label, _not_yet_shown(row, shown)) for row in cause.raised]
    phrases = [RAISED_WORDS[label].format(text) for label, text in new if text]
    return field("Raised", ", ".join(phrases), width, 2) if phrases else []


def _not_yet_shown(row: Row, shown: str) -> str:
    """The text of a row unless it is shown already. If only an error's message is shown: the error's class."""
    if (f"rank {row.text}" if row.label == "Rank" else row.text) in shown:
        return ""
    name, _, message = row.text.partition(": ")
    return name if row.label == "Error" and message and message in shown else row.text


def _evidence(cause: CauseText, width: int) -> "list[Text]":
    """Evidence for and against a cause; for a guess also what is not known."""
    evidence = [e for e in cause.evidence if e.supports is not None or cause.basis.startswith("a guess")]
    lines: list[Text] = []
    for speaks, limit in MAX_EVIDENCE.items():
        for item in [e for e in evidence if e.supports is speaks][:limit]:
            lines += _item(item, width, text() if lines else text(("Evidence", "bold")))
    left_out = len(evidence) - sum(min(sum(e.supports is s for e in evidence), n) for s, n in MAX_EVIDENCE.items())
    return lines + (wrapped(text((f"and {left_out} more", "dim")), width, indent=LABEL) if left_out else [])


def _item(item: EvidenceText, width: int, first: "Text") -> "list[Text]":
    """One item: its mark, its text, and its place and kind at the end of the line."""
    details = [t for t in (item.place, item.kind if item.supports is not None else "") if t]
    tail = "  ".join(details)
    first.pad_right(LABEL - first.cell_len)
    first.append_text(text(MARK[item.supports], " "))
    if LABEL + 2 + len(item.text) + 2 + len(tail) <= width:
        return two_ended(first.append(item.text), text((tail, "dim")), width)
    return wrapped(text(item.text, (f"  ({', '.join(details)})" if details else "", "dim")), width, first, LABEL + 2)


def _instead(doc: Document, width: int) -> "list[Text]":
    """Possible causes and alternatives with their probability, then rivals that are ruled out, and why."""
    possible = [c for c in doc.causes if not c.likely]
    rivals = [f"{c.title} {c.sure}" + (f" (not ours: {c.origin})" if c.origin else "") for c in possible]
    rivals += [row.label for row in doc.less_likely[: max(MAX_RIVALS - len(rivals), 0)]]
    out = [f"{', '.join(n.titles[:2])} ruled out ({n.why})" for n in doc.ruled_out if n.rival][:2]
    label = "Instead?" if _lead(doc) else "Perhaps"
    if _lead(doc) and not rivals:
        rivals = ["nothing else is supported"]
    return field(label, " · ".join([*rivals, *out]), width) if rivals else []


def _quick(doc: Document, width: int) -> "list[Text]":
    """Which change to make first, if there are several."""
    rows = [f"{i}. {row.label} ({row.text})" for i, row in enumerate(doc.quick_fixes[:3], 1)]
    return field("Do first", "; ".join(rows), width) if len(rows) > 1 else []


def _restart(doc: Document, width: int) -> "list[Text]":
    return field(doc.restart.label, doc.restart.text, width) if doc.restart else []


def _baseline(doc: Document, width: int, margin: int = 0) -> "list[Text]":
    """What was changed since the baseline, and where the curves diverge."""
    return [line for row in doc.baseline for line in field(row.label, row.text, width, margin)]


def _reported(doc: Document, width: int) -> "list[Text]":
    return [line for row in doc.told for line in field("You said", f"“{row.label}”: {row.text}", width)]


def _notes(doc: Document, width: int, margin: int = 0) -> "list[Text]":
    """Settings files, causes that the user accepts, and notes with what to do about them."""
    notes = [(row.label, row.text) for row in doc.settings]
    notes += [("Accepted", cause) for cause in doc.ignored]
    notes += [("Note", f"{row.label} · {row.text}") for row in doc.notes]
    return [line for label, words in notes for line in field(label, words, width, margin)]


def _not_logged(doc: Document, width: int, margin: int = 0) -> "list[Text]":
    """What is not logged, and what cannot be judged without it."""
    return field("Not seen", " · ".join(doc.not_logged), width, margin) if doc.not_logged else []


def _after(doc: Document, width: int) -> "list[Text]":
    lead = _lead(doc)
    if lead is None or not lead.consequences:
        return []
    shown = lead.consequences[:3]
    kind = "no cause of its own" if len(shown) == 1 else "no causes of their own"
    return field("Explains", f"{'; '.join(shown)} ({kind})", width)


def _processes(doc: Document, width: int) -> "list[Text]":
    """How the processes of the last start ended, if there are several."""
    return field("Processes", " · ".join(f"{r.label}: {r.text}" for r in doc.processes), width) if doc.processes else []


def _sessions(doc: Document, width: int, margin: int = 0) -> "list[Text]":
    if not doc.sessions:
        return []
    shown = doc.sessions[-3:]
    return field("Starts", f"{doc.starts}; " + " · ".join(f"{r.label} {r.text}" for r in shown), width, margin)


def _not_read(doc: Document, width: int) -> "list[Text]":
    if not doc.gaps:
        return []
    return field("Not read", shortlist([f"{r.label}: {r.text}" for r in doc.gaps], 2, " · "), width)
