"""Tables as CSV that a spreadsheet shows and never runs."""

import re

import polars as pl

__all__ = ["render"]

_CONTROL = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)  # escapes, and marks that turn text
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # the last four: the same for a spreadsheet
_NUMBER = re.compile(r"[+-](?:\d{1,400}\.?\d{0,400}|\.\d{1,400})(?:[eE][+-]?\d{1,4})?|[+-](?:inf|nan)", re.IGNORECASE)
_SUSPICIOUS = r"[\x00-\x1f\x7f-\x9f\x{2028}-\x{202e}\x{2066}-\x{2069}]|^[=+\-@＝＋－＠]"


def render(rows: pl.DataFrame) -> str:
    """With a header; NULL is empty, lists are their values separated by ``; ``.

    A cell that begins like a formula (``=cmd()``) gets an apostrophe before it, but for numbers (``-0.5``). Control
    characters are written as their escapes (``\\x1b``), so that a terminal that shows the file obeys none.
    """
    lists = [name for name, dtype in rows.schema.items() if isinstance(dtype, pl.List)]
    joined = rows.with_columns(pl.col(lists).list.eval(pl.element().cast(pl.String)).list.join("; "))
    safe = joined.with_columns(_safe_column(column) for column in joined if column.dtype == pl.String)
    return safe.rename(dict(zip(safe.columns, _headers(safe.columns), strict=True))).write_csv()


def _safe_column(column: pl.Series) -> pl.Series:
    """The column itself where nothing in it is suspicious, as almost always."""
    odd = column.filter(column.str.contains(_SUSPICIOUS)).unique()
    return column.replace({text: _safe(text) for text in odd}) if odd.len() else column


def _headers(names: list[str]) -> list[str]:
    """Names of columns, which a run's settings may give; two that look the same stay apart."""
    found = list[str]()
    for name in map(_safe, names):
        found.append(f"{name} ({found.count(name) + 1})" if name in found else name)
    return found


def _safe(text: str) -> str:
    """The text of one cell, harmless.

    >>> _safe("=cmd|'/c calc'!A1"), _safe("-0.5"), _safe("-2+3")
    ("'=cmd|'/c calc'!A1", '-0.5', "'-2+3")
    """
    shown = _CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)
    return f"'{shown}" if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) else shown
