"""What a Document says, laid out as HTML: the verdict first, then what shows it and what else is known."""

from collections.abc import Iterable, Sequence

import polars as pl

from loganalyst.model import Diagnosis, Excerpt, Fix
from loganalyst.report.document import CauseText, Document, Row, written
from loganalyst.report.html.element import Child, Html, element
from loganalyst.report.text import clean

SIGN = {"good": "✓", "bad": "✗", "unsure": "?"}
SPEAKS = {True: ("✓", "for it"), False: ("✗", "against it"), None: ("?", "not known")}
PART = {"root": "the cause", "confirm": "follows from it", "symptom": "symptom"}
SHOWN_CONFIG, SHOWN_LINES, WIDEST_LINE = 200, 40, 1000


def verdict(doc: Document) -> Html:
    """What, why, how sure, what now."""
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
        element("h1", element("span", SIGN[doc.tone], class_="sign", aria_hidden="true"), " ", doc.verdict),
        _sure(doc.sure, lead.basis if lead else ""),
        _what(lead) if lead else _unexplained(doc),
        [_second(c) for c in likely[1:]],
        element("p", [element("span", b, class_="chip") for b in doc.best[:3]]) if doc.tone == "good" else None,
        _rows(doc.told, "told"),
        _rows(doc.baseline, "told"),
        class_="verdict",
    )


def _from(doc: Document) -> Html | None:
    shown = ", ".join(doc.sources[:3]) + (f" and {len(doc.sources) - 3} more" if len(doc.sources) > 3 else "")
    return element("span", f"read from {shown}", class_="sources") if shown else None


def _sure(sure: str, basis: str) -> Html:
    """The confidence in words, and as a bar for the eye."""
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


def _what(cause: CauseText) -> list[Html | None]:
    fix = cause.fixes[0] if cause.fixes else None
    decide = cause.basis.startswith("a guess") and cause.decide
    return [
        element("p", _place(cause.place), cause.story, class_="story"),
        _now(fix) if fix else None,
        element("p", element("b", "What would decide: "), "; ".join(cause.decide[:3]), class_="decide")
        if decide
        else None,
    ]


def _now(fix: Fix) -> Html:
    """What to do, what that will do, how to see it."""
    told = (("Change", fix.change), ("In", written(fix)), ("Expect", fix.expected_impact), ("Check", fix.verify))
    return _terms([(label, words) for label, words in told if words], "now")


def _unexplained(doc: Document) -> list[Html | None]:
    """Without a likely cause: what was seen, what to do with the run, what would decide, what to log."""
    bad = doc.tone != "good"
    told = [(doc.advice.label, doc.advice.text)] if doc.advice else []
    told += [("Decide", "; ".join(doc.decide))] if doc.decide else []
    told += [("Log next", "; ".join(doc.to_log[:4]))] if bad and doc.to_log and not doc.decide else []
    return [_list(doc.symptoms[:4]) if bad else None, _terms(told, "now") if told else None]


def _second(cause: CauseText) -> Html:
    return element(
        "section",
        element("h2", cause.title, " ", element("small", f"{cause.sure} · {cause.basis}")),
        element("p", _place(cause.place), cause.story),
        element("p", element("b", "Change: "), cause.fixes[0].change) if cause.fixes else None,
        class_="second",
    )


def evidence(doc: Document) -> list[Html]:
    """Every cause in full; then which change to make first, where there are several."""
    quick = _table(("Change", "Worth"), [(r.label, r.text) for r in doc.quick_fixes])
    return _present(
        *(_cause(c, i, open_=c.likely or i == 0) for i, c in enumerate(doc.causes)),
        _headed("Quick fixes, the best first", quick) if len(doc.quick_fixes) > 1 else None,
    )


def baseline(doc: Document) -> list[Html]:
    """What was changed since the baseline, and where the curves part."""
    return _present(_rows(doc.baseline, "beside"))


def _cause(c: CauseText, i: int, *, open_: bool) -> Html:
    kind = "Cause" if c.likely else "Possible cause"
    head = element(
        "summary", element("h3", f"{kind} {i + 1}: {c.title}"), " ", element("small", f"{c.sure} · {c.basis}")
    )
    return element(
        "details",
        head,
        element("p", _place(c.place), c.story),
        _rows(c.raised, "raised"),
        _items(c),
        _paragraph("Root cause", c.summary),
        _paragraph("Why this happens", c.mechanism),
        [_fix(f) for f in c.fixes],
        _paragraph("What it will not fix", c.will_not_fix),
        _paragraph("Side effects", c.side_effects),
        _paragraph("Prevention", c.prevention),
        _section("What follows from it", c.consequences),
        _section("What would decide", c.decide),
        _section("References", c.references),
        open=open_,
        class_="cause",
    )


def _items(c: CauseText) -> Html | None:
    """The evidence, each item with its sign, kind and place (where any has one)."""
    placed = any(e.place for e in c.evidence)
    rows = [
        (_speaks(e.speaks), e.text, e.kind, *([element("code", e.place) if e.place else ""] if placed else []))
        for e in c.evidence
    ]
    classes = [{True: "for", False: "against", None: "unknown"}[e.speaks] for e in c.evidence]
    return _table(("", "Evidence", "Kind", *(["Where"] if placed else [])), rows, classes)


def _speaks(speaks: bool | None) -> tuple[Html, Html]:
    """A sign for the eye, and its meaning read aloud."""
    sign, words = SPEAKS[speaks]
    return element("span", sign, class_="sign", title=words, aria_hidden="true"), element(
        "span", words, class_="hidden"
    )


def _fix(fix: Fix) -> Html:
    told = (
        ("Change", fix.change),
        ("Where it is written", written(fix)),
        ("What it will change", fix.expected_impact),
        ("How to verify", fix.verify),
        ("If it does not help", fix.if_not),
    )
    return element("div", element("h4", "Proposed fix"), _terms([(label, w) for label, w in told if w], "fix"))


def log(d: Diagnosis) -> list[Html]:
    """The lines around what shows each cause, else the lines that were recognised."""
    if d.excerpts:
        return [_excerpt(e, d.run.lines) for e in d.excerpts]
    told = d.run.lines.filter(pl.col("part").is_in(list(PART)), pl.col("line").is_not_null()).head(SHOWN_LINES)
    rows = [
        (element("code", f"{clean(r['file'], 60)}:{r['line']}"), element("code", clean(r["text"])), PART[r["part"]])
        for r in told.iter_rows(named=True)
    ]
    table = _table(("Where", "Line", "Says"), rows)
    return [table] if table else []


def _excerpt(e: Excerpt, lines: pl.DataFrame) -> Html:
    """Lines with their numbers; the one that shows the cause is marked, others that were recognised have a note."""
    here = lines.filter(pl.col("file") == e.file, pl.col("line").is_between(e.first_line, e.first_line + len(e.lines)))
    parts = {r["line"]: r["part"] for r in here.iter_rows(named=True)}
    body = [_line(n, text, "root" if n == e.marked else parts.get(n)) for n, text in enumerate(e.lines, e.first_line)]
    caption = element("figcaption", element("code", f"{clean(e.file, 200)}:{e.marked}"), " shows the cause")
    return element("figure", caption, element("pre", body, tabindex="0", aria_label="Excerpt of the log"), class_="log")


def _line(n: int, text: str, part: str | None) -> Html:
    note = PART.get(part or "")
    inner = [
        element("span", f"{n:>6} ", class_="n"),
        element("mark", _printed(text)) if part == "root" else _printed(text),
        element("span", f"  ◀ {note}", class_="note") if note else None,
    ]
    return element("span", inner, Html("\n"), class_=f"l {part}" if note else "l")


def _printed(text: str) -> str:
    """A line as it stands, its leading spaces kept."""
    indent = len(text) - len(text.lstrip(" "))
    return " " * min(indent, 40) + clean(text, WIDEST_LINE)


def alternatives(doc: Document) -> list[Html]:
    """What was ruled out, and what no one could say."""
    rivals = [(", ".join(n.titles), n.why) for n in doc.ruled_out if n.rival]
    others = [(", ".join(n.titles), n.why) for n in doc.ruled_out if not n.rival]
    judged = [(n.why, ", ".join(n.titles)) for n in doc.not_judged]
    return _present(
        _headed("Would fit what was seen, but ruled out", _table(("Cause", "Why"), rivals)),
        _folded("Looked for and not found", _table(("Cause", "Why"), others)),
        _folded("Cannot be judged", _table(("Missing", "So not judged"), judged)),
        _folded("Does not apply to this run", element("p", ", ".join(doc.not_applicable)))
        if doc.not_applicable
        else None,
        _section("Accepted in loganalyst.yaml", doc.ignored),
    )


def unseen(doc: Document) -> list[Html]:
    """What was not logged and what that costs; what could not be read."""
    return _present(
        _list(doc.not_logged),
        _section("Log next time", doc.to_log),
        _headed("Not read", _rows(doc.gaps, "gaps")),
    )


def run(doc: Document) -> list[Html]:
    """The run in numbers, its starts, and what is worth knowing of it."""
    notes = [(n.label, n.text) for n in doc.notes]
    return _present(
        _rows(doc.facts, "facts"),
        _headed("Worth knowing", _table(("What", "What to do"), notes)),
        _headed("Starts", _rows(doc.sessions, "starts")),
    )


def setup(d: Diagnosis) -> list[Html]:
    """The settings that were read."""
    rows = [
        (element("code", clean(r["key"], 120)), clean(r["value"], 200), clean(r["origin"] or "", 120))
        for r in d.run.config.head(SHOWN_CONFIG).iter_rows(named=True)
    ]
    more = d.run.config.height - len(rows)
    title = f"{d.run.config.height} settings" + (f", the first {SHOWN_CONFIG} of them" if more > 0 else "")
    return _present(_folded(title, _table(("Setting", "Value", "From"), rows)))


def _place(place: str) -> list["Child"]:
    return [element("code", place), " "] if place else []


def _present(*parts: Html | None) -> list[Html]:
    return [p for p in parts if p]


def _headed(title: str, body: Html | None) -> Html | None:
    return element("div", element("h3", title), body) if body else None


def _folded(title: str, body: Html | None) -> Html | None:
    return element("details", element("summary", element("h3", title)), body) if body else None


def _paragraph(title: str, text: str) -> Html | None:
    return element("div", element("h4", title), element("p", text)) if text else None


def _section(title: str, items: Sequence[str]) -> Html | None:
    return element("div", element("h4", title), _list(items)) if items else None


def _list(items: Sequence[str]) -> Html | None:
    return element("ul", [element("li", item) for item in items]) if items else None


def _rows(rows: Sequence[Row], kind: str) -> Html | None:
    return _terms([(r.label, r.text) for r in rows], kind) if rows else None


def _terms(rows: Iterable[tuple[str, str]], kind: str) -> Html:
    return element("dl", [(element("dt", label), element("dd", words)) for label, words in rows], class_=kind)


def _table(head: Sequence[str], rows: Sequence[Sequence["Child"]], classes: Sequence[str] = ()) -> Html | None:
    """In a frame that scrolls, so that the page never does sideways."""
    if not rows:
        return None
    heads = [element("th", name or element("span", "Speaks", class_="hidden"), scope="col") for name in head]
    kinds = [*classes, *[""] * (len(rows) - len(classes))]
    body = [
        element("tr", [element("td", c) for c in row], class_=k or None) for row, k in zip(rows, kinds, strict=True)
    ]
    table = element("table", element("thead", element("tr", heads)), element("tbody", body))
    return element("div", table, class_="table", tabindex="0", role="group", aria_label=", ".join(filter(None, head)))
