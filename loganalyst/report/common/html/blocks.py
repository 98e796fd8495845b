"""Pieces that sections are made of: lists, tables, headed and folded parts. What is empty is left out."""

from collections.abc import Iterable, Sequence

from loganalyst.report.common.html.element import Child, Html, element
from loganalyst.report.diagnosis.overview import Row


def place(place: str) -> list["Child"]:
    """Where something stands, before the words on it."""
    return [element("code", place), " "] if place else []


def present(*parts: Html | None) -> list[Html]:
    """Those parts that hold something."""
    return [p for p in parts if p]


def headed(title: str, body: Html | None) -> Html | None:
    """A part under a heading."""
    return element("div", element("h3", title), body) if body else None


def folded(title: str, body: Html | None) -> Html | None:
    """A part that opens on demand."""
    return element("details", element("summary", element("h3", title)), body) if body else None


def paragraph(title: str, text: str) -> Html | None:
    """A text under a small heading."""
    return element("div", element("h4", title), element("p", text)) if text else None


def section(title: str, items: Sequence[str]) -> Html | None:
    """A list under a small heading."""
    return element("div", element("h4", title), bullets(items)) if items else None


def bullets(items: Sequence[str]) -> Html | None:
    """A list."""
    return element("ul", [element("li", item) for item in items]) if items else None


def rows(rows: Sequence[Row], kind: str) -> Html | None:
    """Labels and their texts."""
    return terms([(r.label, r.text) for r in rows], kind) if rows else None


def terms(rows: Iterable[tuple[str, str]], kind: str) -> Html:
    """The same of pairs."""
    return element("dl", [(element("dt", label), element("dd", words)) for label, words in rows], class_=kind)


def table(head: Sequence[str], rows: Sequence[Sequence["Child"]], classes: Sequence[str] = ()) -> Html | None:
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
