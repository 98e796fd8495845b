"""The full report as Markdown: everything a Document holds, for an issue, a wiki or a review."""

import re
from collections.abc import Iterable, Iterator, Sequence

from loganalyst.model import Diagnosis, Fix
from loganalyst.report.common.layout import BARS
from loganalyst.report.diagnosis.document import CauseText, Document, Row, document, written
from loganalyst.report.diagnosis.sparkseries import EMPTY, NONFINITE, Series

SPEAKS = {True: "for it", False: "against it", None: "not known"}
# An underscore inside a word is no emphasis; metric names stay readable
_SPECIAL = re.compile(r"[\\`*{}\[\]<>#|~$!&]|(?<![^\W_])_|_(?![^\W_])")
_OPENING = re.compile(r"^(\d*)([-+=.)])(?=\s|\2|$)")  # would open a list or underline a heading


def render(diagnosis: Diagnosis, *, top: int = 5) -> str:
    """The Markdown report of one diagnosis."""
    doc = document(diagnosis, top)
    blocks = [block for part in (_opening, _causes, _shown, _others, _run) for block in part(doc)]
    return "\n\n".join(blocks) + "\n"


def escape(text: str) -> str:
    """Text that stays text: no markup, HTML, links or table cells of its own."""
    return _OPENING.sub(r"\1\\\2", _SPECIAL.sub(r"\\\g<0>", text))


def _opening(doc: Document) -> Iterator[str]:
    yield f"# {escape(doc.name)}: {escape(doc.verdict)}"
    sure = f" Confidence {doc.sure}." if doc.sure else ""
    read = f" Read from {escape(', '.join(doc.sources))}." if doc.sources else ""
    yield f"{escape(doc.headline)}.{sure}{read}"
    yield from _paragraph(doc.advice.label, doc.advice.text, level=2) if doc.advice else ()
    yield from _section("Symptoms", doc.symptoms)
    yield from _section("What would decide", () if any(c.likely for c in doc.causes) else doc.decide)
    yield from _table("Against the baseline", ("", ""), [(r.label, r.text) for r in doc.baseline])
    yield from _table("Symptoms you told", ("Told", "Answer"), [(r.label, r.text) for r in doc.told])


def _causes(doc: Document) -> Iterator[str]:
    for number, cause in enumerate(doc.causes, 1):
        kind = "Cause" if cause.likely else "Possible cause"
        yield f"## {kind} {number}: {escape(cause.title)} ({cause.sure}, {escape(cause.basis)})"
        yield from _cause(cause)


def _cause(cause: CauseText) -> Iterator[str]:
    where = f"**{escape(cause.place)}** " if cause.place else ""
    yield f"{where}{escape(cause.story)}"
    if cause.origin:
        yield f"**Not ours:** {escape(cause.origin)} says so."
    if cause.raised:
        yield "\n".join(f"- **{row.label}:** {escape(row.text)}" for row in cause.raised)
    yield from _paragraph("Root cause", cause.summary)
    yield from _paragraph("Why this happens", cause.mechanism)
    yield from _table(
        "Evidence",
        ("", "Evidence", "Kind", "Where"),
        [(SPEAKS[e.speaks], e.text, e.kind, e.place) for e in cause.evidence],
        level=3,
    )
    for number, fix in enumerate(cause.fixes, 1):
        yield from _fix(fix, f" {number}" if number > 1 else "")
    yield from _paragraph("What it will not fix", cause.will_not_fix)
    yield from _paragraph("Side effects", cause.side_effects)
    yield from _paragraph("Prevention", cause.prevention)
    yield from _section("What follows from it", cause.consequences, level=3)
    yield from _section("What would decide", cause.decide, level=3)
    yield from _section("References", cause.references, level=3)


def _fix(fix: Fix, number: str) -> Iterator[str]:
    yield f"### Proposed fix{number}\n\n{escape(fix.change)}"
    parts = (
        ("Where it is written", written(fix)),
        ("What it will change", fix.expected_impact),
        ("How to verify", fix.verify),
        ("If it does not help", fix.if_not),
    )
    lines = [f"- **{label}:** {escape(words)}" for label, words in parts if words]
    if lines:
        yield "\n".join(lines)


def _shown(doc: Document) -> Iterator[str]:
    if doc.series:
        yield "## Curves\n\n" + _code(_curves(doc.series, doc.onset))
    yield from _table("Timeline", ("When", "What"), [(r.label, r.text) for r in doc.timeline])


def _curves(series: Sequence[Series], onset: str) -> Iterator[str]:
    signs = {EMPTY: "·", NONFINITE: "✗", **dict(enumerate(BARS))}
    width = max(len(s.metric) for s in series)
    for s in series:
        yield f"{s.metric:{width}}  {''.join(signs[c] for c in s.cells)}  {s.values}"
    marked = next((s for s in series if s.onset is not None), None)
    if marked is not None and marked.onset is not None:
        enlarged = f" (enlarged {marked.enlarged} it)" if marked.enlarged else ""
        yield " " * (width + 2 + marked.onset) + f"▲ step {onset}{enlarged}"


def _code(lines: Iterable[str]) -> str:
    """An indented block: unlike a fence it cannot be closed by what stands in it."""
    return "\n".join("    " + line for line in lines)


def _others(doc: Document) -> Iterator[str]:
    yield from _table("Quick fixes, the best first", ("Change", "Worth"), [(r.label, r.text) for r in doc.quick_fixes])
    yield from _rows("What to watch after the fix", doc.watch)
    yield from _table("Worth knowing", ("What", "What to do"), [(n.label, n.text) for n in doc.notes])
    yield from _table(
        "What it may be instead", ("Cause", "What would decide"), [(r.label, r.text) for r in doc.perhaps]
    )
    yield from _table("Less likely", ("Cause", "Why"), [(r.label, r.text) for r in doc.less_likely])
    yield from _table("Ruled out", ("Cause", "Why"), [(", ".join(n.titles), n.why) for n in doc.ruled_out])
    yield from _paragraph("Does not apply to this run", ", ".join(doc.not_applicable), level=2)
    yield from _table(
        "Cannot be judged", ("Missing", "So not judged"), [(n.why, ", ".join(n.titles)) for n in doc.not_judged]
    )
    yield from _section("Not logged", doc.not_logged)
    yield from _section("Log next time", doc.to_log)
    yield from _section("Accepted in loganalyst.yaml", doc.ignored)
    yield from _rows("Settings and rules beside ours", doc.settings)


def _run(doc: Document) -> Iterator[str]:
    yield from _rows("Setup", doc.setup)
    yield from _rows("Run", doc.facts)
    yield from _rows("Starts", doc.sessions)
    yield from _rows("Not read", doc.gaps)


def _rows(title: str, rows: Sequence[Row]) -> Iterator[str]:
    yield from _table(title, ("", ""), [(r.label, r.text) for r in rows])


def _paragraph(title: str, text: str, level: int = 3) -> Iterator[str]:
    if text:
        yield f"{'#' * level} {title}\n\n{escape(text)}"


def _section(title: str, items: Sequence[str], level: int = 2) -> Iterator[str]:
    if items:
        yield f"{'#' * level} {title}\n\n" + "\n".join(f"- {escape(item)}" for item in items)


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]], level: int = 2) -> Iterator[str]:
    if rows:
        lines = [head, ["---"] * len(head), *([escape(cell) for cell in row] for row in rows)]
        yield f"{'#' * level} {title}\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines)
