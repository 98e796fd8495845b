"""The full report as Markdown: a whole Document, for an issue, a wiki or a review."""

from collections.abc import Iterable, Iterator, Sequence

from loganalyst.model import Diagnosis, Fix
from loganalyst.report.common.layout import BARS
from loganalyst.report.common.markdowntext import escape, paragraph, rows, section, titled_table
from loganalyst.report.common.rows import Row
from loganalyst.report.common.sparkseries import EMPTY, NONFINITE, Series
from loganalyst.report.diagnosis.causetext import CauseText
from loganalyst.report.diagnosis.document import Document, document
from loganalyst.report.diagnosis.placenames import written
from loganalyst.report.diagnosis.remedies import BROADER, command, scopes

SPEAKS = {True: "for it", False: "against it", None: "not known"}


def render(diagnosis: Diagnosis, *, top: int = 5) -> str:
    """The Markdown report of one diagnosis."""
    doc = document(diagnosis, top)
    blocks = [block for part in (_opening, _causes, _curves_and_timeline, _others, _run) for block in part(doc)]
    return "\n\n".join(blocks) + "\n"


def _opening(doc: Document) -> Iterator[str]:
    yield f"# {escape(doc.name)}: {escape(doc.verdict)}"
    sure = f" Confidence {doc.sure}." if doc.sure else ""
    read = f" Read from {escape(', '.join(doc.sources))}." if doc.sources else ""
    training = f" Training: {escape(doc.training)}." if doc.training else ""
    yield f"{escape(doc.headline)}.{sure}{read}{training}"
    yield from paragraph(doc.advice.label, doc.advice.text, level=2) if doc.advice else ()
    yield from paragraph(doc.restart.label, doc.restart.text, level=2) if doc.restart else ()
    yield from paragraph("Checkpoint to keep", doc.keep, level=2)
    yield from titled_table("Symptoms", ("Observed", "Expected"), _pairs(doc.observed))
    yield from paragraph("Does it repeat?", doc.repeats, level=2)
    yield from section("What would decide", () if any(c.likely for c in doc.causes) else doc.decide)
    yield from rows("Against the baseline", doc.baseline)
    yield from titled_table("Symptoms you reported", ("Reported", "Answer"), _pairs(doc.told))


def _causes(doc: Document) -> Iterator[str]:
    for number, cause in enumerate(doc.causes, 1):
        kind = "Cause" if cause.likely else "Possible cause"
        yield f"## {kind} {number}: {escape(cause.title)} ({cause.sure}, {escape(cause.basis)})"
        yield from _cause(cause)


def _cause(cause: CauseText) -> Iterator[str]:
    where = f"**{escape(cause.place)}** " if cause.place else ""
    yield f"{where}{escape(cause.story)}"
    if cause.origin:
        yield f"**Not ours:** this cause comes from {escape(cause.origin)}."
    if cause.raised:
        yield "\n".join(f"- **{row.label}:** {escape(row.text)}" for row in cause.raised)
    yield from paragraph("Root cause", cause.summary)
    yield from paragraph("Why this happens", cause.mechanism)
    yield from titled_table(
        "Evidence",
        ("", "Evidence", "Kind", "Where"),
        [(SPEAKS[e.supports], e.text, e.kind, e.place) for e in cause.evidence],
        level=3,
    )
    for scope, fix in zip(scopes(cause.fixes), cause.fixes, strict=True):
        yield from _fix(fix, scope)
    yield from paragraph(BROADER, cause.prevention)
    for template in cause.templates if cause.likely else ():
        yield f"### Code: {escape(template.title)} ({template.framework})\n\n```python\n{template.code.rstrip()}\n```"
    yield from paragraph("Why not surer", cause.limited)
    yield from paragraph("What it will not fix", cause.will_not_fix)
    yield from paragraph("Side effects", cause.side_effects)
    yield from section("What follows from it", cause.consequences, level=3)
    yield from section("What would decide", cause.decide, level=3)
    yield from section("References", cause.references, level=3)


def _fix(fix: Fix, scope: str) -> Iterator[str]:
    yield f"### {scope}\n\n{escape(fix.change)}"
    parts = (
        ("Where it is written", written(fix)),
        ("What it will change", fix.expected_impact),
        ("How to verify", fix.verify),
        ("If it does not help", fix.if_not),
    )
    lines = [f"- **{label}:** {escape(words)}" for label, words in parts if words]
    if lines:
        yield "\n".join(lines)


def _curves_and_timeline(doc: Document) -> Iterator[str]:
    if doc.series:
        yield "## Curves\n\n" + _code(_curves(doc.series, doc.onset))
    yield from titled_table("Timeline", ("When", "What"), _pairs(doc.timeline))


def _curves(series: Sequence[Series], onset: str) -> Iterator[str]:
    signs = {EMPTY: "·", NONFINITE: "✗", **dict(enumerate(BARS))}
    width = max(len(s.metric) for s in series)
    for s in series:
        yield f"{s.metric:{width}}  {''.join(signs[c] for c in s.cells)}  {s.values}"
    marked = next((s for s in series if s.onset is not None), None)
    if marked is not None and marked.onset is not None:
        enlarged = f" (enlarged {marked.enlarged} it)" if marked.enlarged else ""
        yield " " * (width + 2 + marked.onset) + f"▲ {onset}{enlarged}"


def _code(lines: Iterable[str]) -> str:
    """An indented block. Its content cannot close it, as it could close a fence."""
    return "\n".join("    " + line for line in lines)


def _others(doc: Document) -> Iterator[str]:
    yield from titled_table("Quick fixes, the best first", ("Change", "Worth"), _pairs(doc.quick_fixes))
    yield from rows("What to watch after the fix", doc.watch)
    yield from titled_table(
        "Scripts that would decide",
        ("Script", "What it shows", "Written by"),
        [(row.label, row.text, command(row.label)) for row in doc.scripts],
    )
    yield from titled_table("Worth knowing", ("What", "What to do"), _pairs(doc.notes))
    yield from titled_table("What it may be instead", ("Cause", "What would decide"), _pairs(doc.perhaps))
    yield from titled_table("Less likely", ("Cause", "Why"), _pairs(doc.less_likely))
    yield from titled_table(
        "Ruled out by evidence", ("Cause", "Why"), [(", ".join(n.titles), n.why) for n in doc.ruled_out]
    )
    yield from titled_table(
        "Not supported", ("Cause", "Why"), [(", ".join(n.titles), n.why) for n in doc.not_supported]
    )
    yield from paragraph("Does not apply, or too few values for it", ", ".join(doc.not_applicable), level=2)
    yield from titled_table(
        "Not checked", ("Missing", "So not judged"), [(n.why, ", ".join(n.titles)) for n in doc.not_judged]
    )
    yield from section("Not logged", doc.not_logged)
    yield from section("Log next time", doc.to_log)
    yield from section("Accepted in loganalyst.yaml", doc.ignored)
    yield from rows("Settings and rules other than ours", doc.settings)


def _run(doc: Document) -> Iterator[str]:
    yield from rows("Setup", doc.setup)
    yield from rows("Run", doc.facts)
    yield from rows("Processes", doc.processes)
    yield from rows("Starts", doc.sessions)
    yield from rows("Not read", doc.gaps)


def _pairs(pairs: Iterable[Row]) -> list[tuple[str, str]]:
    return [(row.label, row.text) for row in pairs]
