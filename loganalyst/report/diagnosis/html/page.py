"""The page of diagnoses: one article for each run."""

from collections.abc import Sequence

from loganalyst.model import Diagnosis
from loganalyst.report.common.html.element import Html, data, element
from loganalyst.report.common.html.shell import shell
from loganalyst.report.diagnosis.document import Document, document
from loganalyst.report.diagnosis.html import excerpts, figures, sections


def page(runs: Sequence[Diagnosis], top: int) -> str:
    """The text of the file."""
    docs = [document(d, top) for d in runs]
    title = f"{docs[0].name}: {docs[0].verdict}" if len(docs) == 1 else f"{len(docs)} runs"
    articles = [_article(d, doc, i) for i, (d, doc) in enumerate(zip(runs, docs, strict=True))]
    contents = _contents(docs) if len(docs) > 1 else None
    return shell(
        title, contents, element("main", articles), made="the run's logs", script=("diagnosis.html", "script.js")
    )


def _contents(docs: Sequence[Document]) -> Html:
    """Links to the runs, for a page with several."""
    items = [element("li", element("a", f"{d.name}: {d.verdict}", href=f"#run{i}")) for i, d in enumerate(docs)]
    return element("nav", element("ol", items), class_="runs", aria_label="Runs")


def _article(d: Diagnosis, doc: Document, i: int) -> Html:
    """Verdict, curves, evidence, and the other sections. `i` keeps the ids of several runs distinct."""
    drawn, packed = figures.figures(d, doc)
    there = [(name, title, body) for name, title, body in _sections(d, doc, drawn) if body]
    links = [element("a", title, href=f"#run{i}-{name}") for name, title, _ in there]
    return element(
        "article",
        sections.verdict(doc),
        element("nav", links, class_="parts", aria_label=f"Parts of the report on {doc.name}"),
        [_section(name, title, body, i) for name, title, body in there],
        data(packed, class_="data") if packed else None,
        id=f"run{i}",
        class_=f"tone-{doc.tone}",
    )


def _sections(d: Diagnosis, doc: Document, drawn: list[Html]) -> list[tuple[str, str, Sequence[Html]]]:
    """Name, title and content of each section; without content it is not shown. `drawn`: the curves."""
    parts: list[tuple[str, str, Sequence[Html]]] = [
        ("curves", "Curves", drawn),
        ("evidence", "Evidence", sections.evidence(doc)),
        ("log", "Log", excerpts.log(d)),
        ("baseline", "Against the baseline", sections.baseline(doc)),
        ("instead", "What else it could be", sections.alternatives(doc)),
        ("unseen", "What was not logged", sections.unseen(doc)),
        ("run", "The run", sections.run(doc)),
        ("setup", "Setup", sections.setup(d, doc)),
    ]
    if d.excerpts:  # the line that shows the cause comes before the curves
        parts = [parts[2], *parts[:2], *parts[3:]]
    return parts


def _section(name: str, title: str, body: Sequence[Html], i: int) -> Html:
    heading = f"h{i}-{name}"
    return element("section", element("h2", title, id=heading), body, id=f"run{i}-{name}", aria_labelledby=heading)
