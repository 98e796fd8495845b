"""A frame as a plain-text table that fits a width, with a last line on what was cut and how to see it.

A single row that does not fit is listed with one column per line.
"""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from loganalyst.report.common.layout import ASCII, cells, cut
from loganalyst.report.common.wording import clean, count

MAX_ROWS = 1000
MAX_CELL = 400  # characters of a cell
MIN_COLUMN_WIDTH = 12  # no cell is narrower; a further column is left out instead
MAX_NAMED_COLUMNS = 3  # left-out columns that the last line names
SEPARATOR = "  "
WHOLE = "--format csv, json or jsonl writes all of it"


@dataclass(frozen=True)
class _Cells:
    """The texts of a column with its head first, the width they need, and whether they are numbers."""

    texts: Sequence[str]
    width: int
    right: bool


def render(rows: pl.DataFrame, width: int, *, ascii_only: bool = False) -> str:
    """At most MAX_ROWS rows in `width` columns, without characters that control a terminal.

    >>> import polars as pl
    >>> print(render(pl.DataFrame({"metric": ["loss", "lr"], "points": [661, 67]}), 60), end="")
    metric  points
    ──────  ──────
    loss       661
    lr          67
    """
    shown = rows.head(MAX_ROWS)
    columns = [_column(shown[name], name) for name in shown.columns]
    if shown.height == 1 and _wide(columns) > width:
        lines, cuts = _listed(columns, width)
    else:
        lines, cuts = _drawn(columns, width)
    left = rows.height - shown.height
    cuts = [*([count(left, "row")] if left else []), *cuts]
    lines += ["", *textwrap.wrap(f"Left out: {', '.join(cuts)}. {WHOLE}.", max(width, 20))] if cuts else []
    text = "".join(f"{line.rstrip()}\n" for line in lines)
    return text.replace("…", "~").translate(ASCII).encode("ascii", "replace").decode() if ascii_only else text


def _column(values: pl.Series, name: str) -> _Cells:
    texts = [clean(name, MAX_CELL), *(_text(value) for value in values)]
    return _Cells(texts, max(map(cells, texts)), values.dtype.is_numeric())


def _text(value: Any) -> str:
    """A value as one line: NULL as `null`, a list separated by `; `, a number with at most ten digits."""
    if value is None:
        return "null"
    if isinstance(value, float):
        return f"{value:.10g}".replace("nan", "NaN").replace("inf", "Inf")
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, pl.Series)):
        return clean("; ".join(map(_text, value)), MAX_CELL)
    return clean(value, MAX_CELL)


def _wide(columns: Sequence[_Cells]) -> int:
    return sum(column.width for column in columns) + len(SEPARATOR) * (len(columns) - 1)


def _drawn(columns: Sequence[_Cells], width: int) -> tuple[list[str], list[str]]:
    """The lines of the table, and descriptions of what was cut."""
    kept = _fitting(columns, width)
    widths = _narrowed(kept, width)
    padded = [
        [_padded(text, w, right=column.right) for text in column.texts] for column, w in zip(kept, widths, strict=True)
    ]
    lines = [SEPARATOR.join(row) for row in zip(*padded, strict=True)]
    lines[1:1] = [SEPARATOR.join("─" * w for w in widths)] if lines else []
    cuts = []
    if lost := [column.texts[0] for column in columns[len(kept) :]]:
        names = ", ".join(cut(name, 30) for name in lost[:MAX_NAMED_COLUMNS]) + (
            " …" if len(lost) > MAX_NAMED_COLUMNS else ""
        )
        cuts.append(f"{count(len(lost), 'column')} ({names})")
    if shortened := sum(cells(t) > w for c, w in zip(kept, widths, strict=True) for t in c.texts[1:]):
        cuts.append(_ends(shortened))
    return lines, cuts


def _fitting(columns: Sequence[_Cells], width: int) -> Sequence[_Cells]:
    """The first columns that have room, each at least MIN_COLUMN_WIDTH or what it needs; always one."""
    room = width
    for i, column in enumerate(columns):
        room -= min(column.width, MIN_COLUMN_WIDTH) + (len(SEPARATOR) if i else 0)
        if room < 0 and i:
            return columns[:i]
    return columns


def _narrowed(columns: Sequence[_Cells], width: int) -> list[int]:
    """The widths that fit. Texts shrink before numbers, the widest first, none below MIN_COLUMN_WIDTH."""
    widths = [column.width for column in columns]
    room = width - len(SEPARATOR) * (len(columns) - 1)
    for numbers in (False, True):
        able = [i for i, column in enumerate(columns) if column.right is numbers]
        spared = room - sum(w for i, w in enumerate(widths) if i not in able)
        most = max((widths[i] for i in able), default=0)
        while most > MIN_COLUMN_WIDTH and sum(min(widths[i], most) for i in able) > spared:
            most -= 1
        for i in able:
            widths[i] = min(widths[i], most)
    return widths


def _listed(columns: Sequence[_Cells], width: int) -> tuple[list[str], list[str]]:
    """One row as a list: the name of each column, followed by its value."""
    label = min(max(cells(column.texts[0]) for column in columns), max(width // 2, MIN_COLUMN_WIDTH))
    room = max(width - label - len(SEPARATOR), MIN_COLUMN_WIDTH)
    lines = [_padded(c.texts[0], label) + SEPARATOR + cut(c.texts[1], room) for c in columns]
    shortened = sum(cells(column.texts[1]) > room for column in columns)
    return lines, [_ends(shortened)] if shortened else []


def _padded(text: str, width: int, *, right: bool = False) -> str:
    shown = cut(text, width)
    blanks = " " * (width - cells(shown))
    return blanks + shown if right else shown + blanks


def _ends(cells_cut: int) -> str:
    return f"the ends of {count(cells_cut, 'cell')} (…)" if cells_cut > 1 else "the end of 1 cell (…)"
