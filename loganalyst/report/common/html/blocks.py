"""Pieces of sections: lists, tables, headed and folded parts. Empty pieces are left out."""

from collections.abc import Iterable, Sequence

from loganalyst.report.common.html.element import Child, Html, element
from loganalyst.report.common.rows import Row


def place(place: str) -> list["Child"]:
    """A place such as `train.log:12` before the words on it."""
    return [element("code", place), " "] if place else []


def present(*parts: Html | None) -> list[Html]:
    """The parts that are not empty."""
    return [p for p in parts if p]


def headed(title: str, body: Html | None) -> Html | None:
    """A part under a heading."""
    return element("div", element("h3", title), body) if body else None


def folded(title: str, body: Html | None) -> Html | None:
    """A part that a click opens."""
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
    """Labels and their texts, given as pairs."""
    return element("dl", [(element("dt", label), element("dd", words)) for label, words in rows], class_=kind)


def table(head: Sequence[str], rows: Sequence[Sequence["Child"]], classes: Sequence[str] = ()) -> Html | None:
    """A table in a frame that scrolls, so that the page never scrolls sideways."""
    if not rows:
        return None
    heads = [element("th", name or element("span", "Supports", class_="hidden"), scope="col") for name in head]
    kinds = [*classes, *[""] * (len(rows) - len(classes))]
    body = [
        element("tr", [element("td", c) for c in row], class_=k or None) for row, k in zip(rows, kinds, strict=True)
    ]
    table = element("table", element("thead", element("tr", heads)), element("tbody", body))
    return element("div", table, class_="table", tabindex="0", role="group", aria_label=", ".join(filter(None, head)))
