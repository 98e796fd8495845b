"""Lines of the log around the line that shows a cause, or the last recognised lines if no line does."""

import polars as pl

from loganalyst.model import Diagnosis, Excerpt
from loganalyst.report.common.html import blocks
from loganalyst.report.common.html.element import Html, element
from loganalyst.report.common.wording import clean

PART_WORDS = {"root": "the cause", "confirm": "follows from it", "symptom": "symptom"}
MAX_LINES, MAX_LINE_LENGTH, MAX_INDENT = 40, 1000, 40


def log(d: Diagnosis) -> list[Html]:
    """The lines around each cause. Without causes in the log: the last recognised lines, from the latest start."""
    if d.excerpts:
        return [_excerpt(e, d.run.lines) for e in d.excerpts]
    recognised = d.run.lines.filter(pl.col("part").is_in(list(PART_WORDS)), pl.col("line").is_not_null()).tail(
        MAX_LINES
    )
    says = PART_WORDS if d.causes else {**PART_WORDS, "root": "a fault"}
    rows = [
        (element("code", f"{clean(r['file'], 60)}:{r['line']}"), element("code", clean(r["text"])), says[r["part"]])
        for r in recognised.iter_rows(named=True)
    ]
    table = blocks.table(("Where", "Line", "Says"), rows)
    return [table] if table else []


def _excerpt(e: Excerpt, lines: pl.DataFrame) -> Html:
    """Numbered lines. The line that shows the cause is marked, other recognised lines have a note."""
    here = lines.filter(pl.col("file") == e.file, pl.col("line").is_between(e.first_line, e.first_line + len(e.lines)))
    parts = {r["line"]: r["part"] for r in here.iter_rows(named=True)}
    body = [_line(n, text, "root" if n == e.marked else parts.get(n)) for n, text in enumerate(e.lines, e.first_line)]
    caption = element("figcaption", element("code", f"{clean(e.file, 200)}:{e.marked}"), " shows the cause")
    return element("figure", caption, element("pre", body, tabindex="0", aria_label="Excerpt of the log"), class_="log")


def _line(n: int, text: str, part: str | None) -> Html:
    note = PART_WORDS.get(part or "")
    inner = [
        element("span", f"{n:>6} ", class_="n"),
        element("mark", _printed(text)) if part == "root" else _printed(text),
        element("span", f"  ◀ {note}", class_="note") if note else None,
    ]
    return element("span", inner, Html("\n"), class_=f"l {part}" if note else "l")


def _printed(text: str) -> str:
    """A line with its leading spaces."""
    indent = len(text) - len(text.lstrip(" "))
    return " " * min(indent, MAX_INDENT) + clean(text, MAX_LINE_LENGTH)
