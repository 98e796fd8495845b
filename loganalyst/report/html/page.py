"""The page as a whole: head, policy, style and script, and one article a run."""

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from loganalyst.model import Diagnosis
from loganalyst.report.document import Document, document
from loganalyst.report.html import excerpts, figures, sections
from loganalyst.report.html.element import Html, data, element

POLICY = (
    "default-src 'none'; style-src '{style}'; script-src '{script}'; img-src data:; base-uri 'none'; form-action 'none'"
)


def page(runs: Sequence[Diagnosis], top: int) -> str:
    """The text of the file."""
    docs = [document(d, top) for d in runs]
    title = f"{docs[0].name}: {docs[0].verdict}" if len(docs) == 1 else f"{len(docs)} runs"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy()),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="generator", content="loganalyst"),
        element("title", f"{title} · loganalyst"),
        element("style", Html(_asset("style.css"))),
    )
    body = element(
        "body",
        _contents(docs) if len(docs) > 1 else None,
        element("main", [_article(d, doc, i) for i, (d, doc) in enumerate(zip(runs, docs, strict=True))]),
        element("footer", "Made by loganalyst from the run's logs alone. This page loads nothing and sends nothing."),
        element("script", Html(_asset("script.js"))),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def _contents(docs: Sequence[Document]) -> Html:
    """The runs of a page with several."""
    items = [element("li", element("a", f"{d.name}: {d.verdict}", href=f"#run{i}")) for i, d in enumerate(docs)]
    return element("nav", element("ol", items), class_="runs", aria_label="Runs")


def _article(d: Diagnosis, doc: Document, i: int) -> Html:
    """Verdict, curves, then what shows it and what else is known; `i` keeps the ids of several runs apart."""
    drawn, packed = figures.figures(d, doc)
    parts = [
        ("curves", "Curves", drawn),
        ("evidence", "Evidence", sections.evidence(doc)),
        ("log", "Log", excerpts.log(d)),
        ("baseline", "Against the baseline", sections.baseline(doc)),
        ("instead", "What else it could be", sections.alternatives(doc)),
        ("unseen", "What was not logged", sections.unseen(doc)),
        ("run", "The run", sections.run(doc)),
        ("setup", "Setup", sections.setup(d)),
    ]
    if d.excerpts:  # the line that shows it comes before the curves
        parts = [parts[2], *parts[:2], *parts[3:]]
    there = [(name, title, body) for name, title, body in parts if body]
    links = [element("a", title, href=f"#run{i}-{name}") for name, title, _ in there]
    return element(
        "article",
        sections.verdict(doc),
        element("nav", links, class_="parts", aria_label=f"Parts of the report on {doc.name}"),
        [
            element(
                "section",
                element("h2", title, id=f"h{i}-{name}"),
                body,
                id=f"run{i}-{name}",
                aria_labelledby=f"h{i}-{name}",
            )
            for name, title, body in there
        ],
        data(packed, class_="data") if packed else None,
        id=f"run{i}",
        class_=f"tone-{doc.tone}",
    )


@cache
def _asset(name: str) -> str:
    """The style or the script, as it stands in the package."""
    return files("loganalyst.report.html").joinpath(name).read_text(encoding="utf-8")


@cache
def _policy() -> str:
    hashes = {}
    for kind, name in (("style", "style.css"), ("script", "script.js")):
        digest = hashlib.sha256(_asset(name).encode()).digest()
        hashes[kind] = f"sha256-{base64.b64encode(digest).decode()}"
    return POLICY.format(**hashes)
