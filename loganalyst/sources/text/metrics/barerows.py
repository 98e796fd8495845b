"""Rows of bare numbers below a line of names, whatever the first name is.

kimg    Ld     Lg      fid
    0  0.901  +0.734   220.44
   50  1.007  +0.585   -
"""

import re

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.sources.text.metrics.numbertext import FOUND, NUMBER, as_number

_NONE = r"[-–—](?:\s|$)"  # a cell without a value: `-`
_ERROR = r"(?:±|\+/-)\s*[\d.]+"  # of the number before: `± 0.2`
_NOTE = r"(?:[\s|;,]{1,20}[*<A-Za-z][\w*<\-]{0,19}){1,2}"  # words behind the numbers: `adam`, `* best`
# behind the cells: `| best so far`, `*`, `<- best`
_REMARK = r"(?:\|\s*[A-Za-z(*][^|]{0,80}|\*{1,3}|(?:<[-=]|\()[^|]{0,80})"
# numbers, blanks and what separates cells: `  50 | 0.5  +0.6 | -`, `| 3 | 0.5 | 0.6 |`, `300 0.5 0.6 adam`
_CELLS = rf"^\s*[|│]?\s*\d+\s*(?:[\s|;,:](?:\s|[|;,:])*(?:{NUMBER}%?|{_NONE}|{_ERROR}))+"
ROW = rf"{_CELLS}(?:{_NOTE}[\s|;│]*|[\s|;│]*{_REMARK}?)$"
_RULER = r"^[\s\-=+|_─━┼:]{3,}$"
# between names that may have blanks themselves (`loss of D  loss of G`, `D;G`), and between names that are single words
_BETWEEN = (re.compile(r"\s{2,}|[|;\t,]"), re.compile(r"[\s|;,]+"))
_MIN_ROWS = 4
_MIN_NAMES, _MAX_NAMES = 2, 40
_MAX_LETTERS = 40  # of a name
_MAX_HEADERS = 64  # of a batch; a table has one
_MIN_NOTED = 0.9  # share of the rows with words behind the numbers at which the last columns hold words
_MIN_GROWING = 0.9  # share of the rows at which the first column grows


def with_names(rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The rows of bare numbers and the two lines above each, which may be a ruler and the names.

    >>> with_names(np.array([False, False, False, True, False])).tolist()
    [False, True, True, True, False]
    """
    if not rows.any():
        return rows
    found = rows.copy()
    found[:-1] |= rows[1:]
    found[:-2] |= rows[2:]
    return found


def cells(lines: pl.DataFrame) -> pl.DataFrame:
    """The numbers of such rows: row, role, name and value. `lines` has row and text, all lines of a batch in order.

    The names stand on the last line above the rows, a ruler aside; there are as many as numbers in most rows. A row
    with fewer numbers ends before the next name begins.
    """
    rows = _below_names(lines)
    headers = rows["header"].unique(maintain_order=True).head(_MAX_HEADERS)
    found = [block for header in headers if (block := _of_header(header, rows.filter(header=header))) is not None]
    return pl.concat([pl.DataFrame(schema=FOUND), *found])


def _below_names(lines: pl.DataFrame) -> pl.DataFrame:
    """The rows of stretches that are long enough, each with the line above its stretch (`header`)."""
    text = pl.col("text")
    shape = lines.select(
        pl.col("row").cast(pl.Int64), "text", is_row=text.str.contains(ROW), ruler=text.str.contains(_RULER)
    )
    shape = shape.filter(~pl.col("ruler")).with_columns(
        header=pl.when(~pl.col("is_row")).then("text").forward_fill(),
        block=(pl.col("is_row") != pl.col("is_row").shift()).fill_null(value=True).cum_sum(),
    )
    return shape.filter("is_row", pl.len().over("block") >= _MIN_ROWS).drop_nulls("header")


def _of_header(header: str, rows: pl.DataFrame) -> pl.DataFrame | None:
    """The numbers of the rows below a header; None where it does not fit, or nothing counts."""
    text = pl.col("text").str.extract(f"({_CELLS})").str.replace_all(_ERROR, "")
    words = rows.select(
        "row",
        length=text.str.strip_chars_end(" |;\t│").str.len_chars(),
        word=text.str.extract_all(_CELL),
        noted=pl.col("text").str.contains(rf"{_CELLS}{_NOTE}"),
    )
    count = pl.col("word").list.len()
    width = int(words.select(count.mode().max()).item())
    names = _names(header, width)
    if names is None:
        return None
    if words["noted"].mean() >= _MIN_NOTED:  # type: ignore[operator]
        names = names[:width]
    begins = {k: header.find(name) for k, name in enumerate(names)}
    room = count.replace_strict(begins, default=0, return_dtype=pl.Int64)
    whole = words.filter((count == len(names)) | ((count < len(names)) & (pl.col("length") <= room)))
    found = whole.with_columns(column=pl.int_ranges(count)).explode("word", "column")
    value = as_number(pl.col("word").str.strip_chars_end("%"))
    name = pl.col("column").replace_strict(dict(enumerate(names)), default="", return_dtype=pl.String)
    role = pl.when(pl.col("column") == 0).then(pl.lit("step")).otherwise(pl.lit("metric"))
    found = found.select("row", role=role, name=name, value=value).drop_nulls("value")
    steps = found.filter(role="step")["value"].diff().drop_nulls()
    return found if len(steps) and float((steps > 0).mean()) >= _MIN_GROWING else None  # type: ignore[arg-type]


_CELL = rf"{NUMBER}|[-–—]"


def _names(header: str, width: int) -> list[str] | None:
    """The names in a header: those far apart, or the single words, whichever are as many as the numbers of a row."""
    parts = [[name.strip() for name in between.split(header.strip(" |;#\t"))] for between in _BETWEEN]
    some = [[name for name in names if name] for names in parts]
    fits = [names for names in some if _MIN_NAMES <= len(names) <= _MAX_NAMES and _are_names(names)]
    exact = [names for names in fits if len(names) == width]
    longer = [names for names in fits[:1] if len(names) > width]  # a last column is often empty
    return next(iter([*exact, *longer]), None)


def _are_names(names: list[str]) -> bool:
    """Whether each has a letter, none is long or a sentence, and all differ."""
    named = all(any(c.isalpha() or c in "#" for c in name) and len(name) <= _MAX_LETTERS for name in names)
    return named and len(set(names)) == len(names) and not any(":" in name or "=" in name for name in names[:2])
