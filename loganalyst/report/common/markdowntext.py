"""Pieces of Markdown: escaped text, tables, lists and headed paragraphs. Empty pieces are left out."""

import re
from collections.abc import Iterator, Sequence

from loganalyst.report.common.rows import Row

__all__ = ["bullets", "escape", "paragraph", "rows", "section", "table", "titled_table"]

# `*`, `[`, `$` and the like. `_x_` is escaped, but not `grad_norm`: an underscore inside a word is no emphasis
_SPECIAL = re.compile(r"[\\`*{}\[\]<>#|~$!&]|(?<![^\W_])_|_(?![^\W_])")
_OPENING = re.compile(r"^(\d*)([-+=.)])(?=\s|\2|$)")  # `- a`, `1. a` would open a list, `===` underline a heading


def escape(text: str) -> str:
    """Text that stays text: no markup, HTML, links or table cells of its own.

    >>> print(escape("- *loss* of grad_norm"))
    \\- \\*loss\\* of grad_norm
    """
    return _OPENING.sub(r"\1\\\2", _SPECIAL.sub(r"\\\g<0>", text))


def bullets(items: Sequence[str]) -> str:
    """A list."""
    return "\n".join(f"- {escape(item)}" for item in items)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table. The cells are escaped, the head is not."""
    lines = [head, ["---"] * len(head), *([escape(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def titled_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]], level: int = 2) -> Iterator[str]:
    """A table under a heading; nothing without rows."""
    if rows:
        yield f"{'#' * level} {title}\n\n{table(head, rows)}"


def rows(title: str, rows: Sequence[Row]) -> Iterator[str]:
    """Labels and their texts as a table under a heading."""
    yield from titled_table(title, ("", ""), [(r.label, r.text) for r in rows])


def paragraph(title: str, text: str, level: int = 3) -> Iterator[str]:
    """A text under a heading; nothing without a text."""
    if text:
        yield f"{'#' * level} {title}\n\n{escape(text)}"


def section(title: str, items: Sequence[str], level: int = 2) -> Iterator[str]:
    """A list under a heading; nothing without items."""
    if items:
        yield f"{'#' * level} {title}\n\n{bullets(items)}"
