"""A Document laid out as HTML: the verdict first, then the evidence and the other sections."""

from loganalyst.model import CodeTemplate, Diagnosis, Fix
from loganalyst.report.common.html import blocks
from loganalyst.report.common.html.element import Html, element
from loganalyst.report.common.wording import clean, shortlist
from loganalyst.report.diagnosis.causetext import CauseText
from loganalyst.report.diagnosis.document import Document
from loganalyst.report.diagnosis.placenames import written
from loganalyst.report.diagnosis.remedies import BROADER, command, scopes

SIGN = {"good": "✓", "bad": "✗", "unsure": "?"}
SUPPORTS = {True: ("✓", "for it"), False: ("✗", "against it"), None: ("?", "not known")}
MAX_SETTINGS = 200


def verdict(doc: Document) -> Html:
    """What happened, why, how sure, and what to do."""
    likely = [c for c in doc.causes if c.likely]
    lead = likely[0] if likely else None
    return element(
        "header",
        element(
            "p",
            element("b", doc.name),
            " ",
            element("span", doc.headline, class_="state"),
            _from(doc),
            class_="eyebrow",
        ),
        element("p", element("small", doc.training)) if doc.training else None,
        element("h1", element("span", SIGN[doc.tone], class_="sign", aria_hidden="true"), " ", doc.verdict),
        _sure(doc.sure, lead.basis if lead else "") if doc.sure else None,
        _cause_in_short(lead) if lead else _unexplained(doc),
        [_second(c) for c in likely[1:]],
        element("p", [element("span", b, class_="chip") for b in doc.best[:3]]) if doc.tone == "good" else None,
        blocks.rows(doc.told, "told"),
        blocks.rows(doc.baseline, "told"),
        blocks.rows(doc.settings, "told"),
        class_="verdict",
    )


def _from(doc: Document) -> Html | None:
    return element("span", f"read from {shortlist(doc.sources, 3)}", class_="sources") if doc.sources else None


def _sure(sure: str, basis: str) -> Html:
    """The confidence as text and as a bar."""
    digits = "".join(c for c in sure if c.isdecimal())
    bar = [
        element("rect", width="100%", height="8", rx="4", class_="whole"),
        element("rect", width=f"{digits}%", height="8", rx="4", class_="part"),
    ]
    return element(
        "p",
        element("svg", bar, width="120", height="8", class_="bar", aria_hidden="true") if digits else None,
        element("b", f"{sure} sure"),
        f" · {basis}" if basis else None,
        class_="sure",
    )


def _cause_in_short(cause: CauseText) -> list[Html | None]:
    fix = cause.fixes[0] if cause.fixes else None
    decide = cause.basis.startswith("a guess") and cause.decide
    return [
        element("p", blocks.place(cause.place), cause.story, class_="story"),
        _not_ours(cause),
        _now(fix) if fix else None,
        element("p", element("b", "Not surer: "), cause.limited) if cause.limited else None,
        element("p", element("b", "What would decide: "), "; ".join(cause.decide[:3]), class_="decide")
        if decide
        else None,
    ]


def _not_ours(cause: CauseText) -> Html | None:
    """The file of a rule or pattern that is not ours."""
    if not cause.origin:
        return None
    return element(
        "p", element("b", "Not ours: "), "this cause comes from ", element("code", cause.origin), class_="origin"
    )


def _now(fix: Fix) -> Html:
    """The change, its place, its effect, and how to check it."""
    rows = (("Change", fix.change), ("In", written(fix)), ("Expect", fix.expected_impact), ("Check", fix.verify))
    return blocks.terms([(label, words) for label, words in rows if words], "now")


def _unexplained(doc: Document) -> list[Html | None]:
    """Without a likely cause: the symptoms, what to do next, what would decide, and what to log."""
    bad = doc.tone != "good"
    rows = [(doc.advice.label, doc.advice.text)] if doc.advice else []
    rows += [("Decide", "; ".join(doc.decide))] if doc.decide else []
    rows += [("Log next", "; ".join(doc.to_log[:4]))] if bad and doc.to_log and not doc.decide else []
    return [blocks.bullets(doc.symptoms[:4]) if bad else None, blocks.terms(rows, "now") if rows else None]


def _second(cause: CauseText) -> Html:
    return element(
        "section",
        element("h2", cause.title, " ", element("small", f"{cause.sure} · {cause.basis}")),
        element("p", blocks.place(cause.place), cause.story),
        _not_ours(cause),
        element("p", element("b", "Change: "), cause.fixes[0].change) if cause.fixes else None,
        class_="second",
    )


def evidence(doc: Document) -> list[Html]:
    """Whether to restart, every cause in full, then which change to make first if there are several."""
    quick = blocks.table(("Change", "Worth"), [(r.label, r.text) for r in doc.quick_fixes])
    keep = blocks.terms([("Keep", doc.keep)], "now") if doc.keep else None
    restart = blocks.terms([(doc.restart.label, doc.restart.text)], "now") if doc.restart else None
    return blocks.present(
        restart,
        keep,
        *(_cause(c, i, open_=c.likely or i == 0) for i, c in enumerate(doc.causes)),
        blocks.headed("Quick fixes, the best first", quick) if len(doc.quick_fixes) > 1 else None,
        blocks.headed("Observed and expected", blocks.table(("Observed", "Expected"), _observed(doc))),
        blocks.paragraph("Does it repeat?", doc.repeats),
        blocks.headed("What to watch after the fix", blocks.rows(doc.watch, "watch")),
        blocks.headed("Scripts that would decide", _scripts(doc)),
    )


def _observed(doc: Document) -> list[tuple[str, str]]:
    return [(row.label, row.text) for row in doc.observed if row.text]


def _scripts(doc: Document) -> Html | None:
    rows = [(element("code", command(row.label)), row.text) for row in doc.scripts]
    return blocks.table(("Script", "What it shows"), rows)


def baseline(doc: Document) -> list[Html]:
    """What was changed since the baseline, and where the curves diverge."""
    return blocks.present(blocks.rows(doc.baseline, "beside"))


def _cause(c: CauseText, i: int, *, open_: bool) -> Html:
    kind = "Cause" if c.likely else "Possible cause"
    head = element(
        "summary", element("h3", f"{kind} {i + 1}: {c.title}"), " ", element("small", f"{c.sure} · {c.basis}")
    )
    return element(
        "details",
        head,
        element("p", blocks.place(c.place), c.story),
        _not_ours(c),
        blocks.rows(c.raised, "raised"),
        _items(c),
        blocks.paragraph("Root cause", c.summary),
        blocks.paragraph("Why this happens", c.mechanism),
        [_fix(f, scope) for scope, f in zip(scopes(c.fixes), c.fixes, strict=True)],
        blocks.paragraph(BROADER, c.prevention),
        [_template(t) for t in c.templates if c.likely],
        blocks.paragraph("Why not surer", c.limited),
        blocks.paragraph("What it will not fix", c.will_not_fix),
        blocks.paragraph("Side effects", c.side_effects),
        blocks.section("What follows from it", c.consequences),
        blocks.section("What would decide", c.decide),
        blocks.section("References", c.references),
        open=open_,
        class_="cause",
    )


def _items(c: CauseText) -> Html | None:
    """The evidence, each item with its sign and kind, and its place if any item has one."""
    placed = any(e.place for e in c.evidence)
    rows = [
        (_sign(e.supports), e.text, e.kind, *([element("code", e.place) if e.place else ""] if placed else []))
        for e in c.evidence
    ]
    classes = [{True: "for", False: "against", None: "unknown"}[e.supports] for e in c.evidence]
    return blocks.table(("", "Evidence", "Kind", *(["Where"] if placed else [])), rows, classes)


def _sign(supports: bool | None) -> tuple[Html, Html]:
    """A sign, and its meaning for a screen reader."""
    sign, words = SUPPORTS[supports]
    return element("span", sign, class_="sign", title=words, aria_hidden="true"), element(
        "span", words, class_="hidden"
    )


def _template(template: CodeTemplate) -> Html | None:
    """Code for a fix, folded."""
    return blocks.folded(f"Code: {template.title} ({template.framework})", element("pre", template.code, class_="code"))


def _fix(fix: Fix, scope: str) -> Html:
    rows = (
        ("Change", fix.change),
        ("Where it is written", written(fix)),
        ("What it will change", fix.expected_impact),
        ("How to verify", fix.verify),
        ("If it does not help", fix.if_not),
    )
    return element("div", element("h4", scope), blocks.terms([(label, w) for label, w in rows if w], "fix"))


def alternatives(doc: Document) -> list[Html]:
    """Rivals, causes that were ruled out, and causes that could not be judged."""
    excluded = [(", ".join(n.titles), n.why) for n in doc.ruled_out]
    unsupported = [(", ".join(n.titles), n.why) for n in doc.not_supported]
    judged = [(n.why, ", ".join(n.titles)) for n in doc.not_judged]
    return blocks.present(
        blocks.headed(
            "Would look the same",
            blocks.table(("Cause", "What would decide"), [(r.label, r.text) for r in doc.perhaps]),
        ),
        blocks.headed("Less likely", blocks.table(("Cause", "Why"), [(r.label, r.text) for r in doc.less_likely])),
        blocks.headed("Ruled out by evidence", blocks.table(("Cause", "Why"), excluded)),
        blocks.folded("Not supported", blocks.table(("Cause", "Why"), unsupported)),
        blocks.folded("Not checked", blocks.table(("Missing", "So not judged"), judged)),
        blocks.folded("Does not apply, or too few values for it", element("p", ", ".join(doc.not_applicable)))
        if doc.not_applicable
        else None,
        blocks.section("Accepted in loganalyst.yaml", doc.ignored),
    )


def unseen(doc: Document) -> list[Html]:
    """What was not logged, what cannot be judged without it, and what could not be read."""
    return blocks.present(
        blocks.bullets(doc.not_logged),
        blocks.section("Log next time", doc.to_log),
        blocks.headed("Not read", blocks.rows(doc.gaps, "gaps")),
    )


def run(doc: Document) -> list[Html]:
    """The run in numbers, notes, and its starts."""
    notes = [(n.label, n.text) for n in doc.notes]
    return blocks.present(
        blocks.rows(doc.facts, "facts"),
        blocks.headed("Worth knowing", blocks.table(("What", "What to do"), notes)),
        blocks.headed("Processes", blocks.rows(doc.processes, "processes")),
        blocks.headed("Starts", blocks.rows(doc.sessions, "starts")),
    )


def setup(d: Diagnosis, doc: Document) -> list[Html]:
    """The setup of the training, and the settings that were read."""
    rows = [
        (element("code", clean(r["key"], 120)), clean(r["value"], 200), clean(r["origin"] or "", 120))
        for r in d.run.config.head(MAX_SETTINGS).iter_rows(named=True)
    ]
    more = d.run.config.height - len(rows)
    title = f"{d.run.config.height} settings" + (f", the first {MAX_SETTINGS} of them" if more > 0 else "")
    table = blocks.folded(title, blocks.table(("Setting", "Value", "From"), rows))
    return blocks.present(blocks.rows(doc.setup, "facts"), table)
