"""Tables as CSV in which a spreadsheet finds no formula to run."""

import re

import polars as pl

__all__ = ["render"]

# Control characters such as ESC, line separators, and bidi marks, which reverse text
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_FORMULA = (
    "=",
    "+",
    "-",
    "@",
    "\t",
    "\r",
    "\n",
    "＝",
    "＋",
    "－",
    "＠",
)  # a spreadsheet reads the last four like the first
# `-0.5`, `+1e-3`, `-inf`
_NUMBER = re.compile(r"[+-](?:\d{1,400}\.?\d{0,400}|\.\d{1,400})(?:[eE][+-]?\d{1,4})?|[+-](?:inf|nan)", re.IGNORECASE)
# Any character of _CONTROL, or a cell that begins like a formula
_SUSPICIOUS = r"[\x00-\x1f\x7f-\x9f\x{2028}-\x{202e}\x{2066}-\x{2069}]|^[=+\-@＝＋－＠]"


def render(rows: pl.DataFrame) -> str:
    """CSV with a header. NULL is empty, a list is its values separated by ``; ``.

    A cell that begins like a formula (``=cmd()``) gets an apostrophe, except numbers (``-0.5``). Control characters
    become escapes (``\\x1b``), so that they have no effect on a terminal that shows the file.
    """
    lists = [name for name, dtype in rows.schema.items() if isinstance(dtype, pl.List)]
    joined = rows.with_columns(pl.col(lists).list.eval(pl.element().cast(pl.String)).list.join("; "))
    safe = joined.with_columns(_safe_column(column) for column in joined if column.dtype == pl.String)
    return safe.rename(dict(zip(safe.columns, _headers(safe.columns), strict=True))).write_csv()


def _safe_column(column: pl.Series) -> pl.Series:
    """The column with suspicious cells replaced; almost always the column itself."""
    odd = column.filter(column.str.contains(_SUSPICIOUS)).unique()
    return column.replace({text: _safe(text) for text in odd}) if odd.len() else column


def _headers(names: list[str]) -> list[str]:
    """Harmless names of columns, which may come from a run's settings. Names that look the same get a number."""
    found = list[str]()
    for name in map(_safe, names):
        found.append(f"{name} ({found.count(name) + 1})" if name in found else name)
    return found


def _safe(text: str) -> str:
    """The harmless text of one cell.

    >>> _safe("=cmd|'/c calc'!A1"), _safe("-0.5"), _safe("-2+3")
    ("'=cmd|'/c calc'!A1", '-0.5', "'-2+3")
    """
    shown = _CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)
    return f"'{shown}" if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) else shown
