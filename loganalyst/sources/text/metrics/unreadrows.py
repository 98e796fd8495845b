"""Rows of numbers that look like results and that nothing understood, in a log that gave hardly any metric.

Such a log shows a training, but not how it went: that nothing was found in it means nothing.
"""

from pathlib import Path

import polars as pl

from loganalyst.model import table
from loganalyst.sources.text.lines.prefixes import described
from loganalyst.sources.text.metrics import lineforms
from loganalyst.sources.text.metrics.lastlines import last_lines

PATTERN = "numbers-not-read"
MAX_POINTS = 10  # with more numbers read from it, a log is understood
TAIL_BYTES = 1 << 17  # bytes of the end of the file that are searched
MIN_ROWS = 8  # rows of one form
MAX_ROW_CHARS = 400  # longer lines are dumps
MAX_TEXT_CHARS = 200  # characters of a line that are kept
# a number with a decimal point and without a unit: `loss 0.5,`, `| 1.5e-3 |`
_RESULT = r"(?:^|[\s:=,;|(\[])[-+]?[0-9]*\.[0-9]+(?:[eE][-+]?[0-9]+)?(?:[\s,;|)\]]|$)"
# `Time 0.31`, `took 2.5`, `mem: 3.1`: what is measured is not the model
_TIMED = r"(?i)\b(?:time|took|elapsed|eta|second|secs?|duration|memory|mem|gpu|cpu|size|version)"


def found(path: Path, session: int, first_line: int, last_line: int) -> pl.DataFrame:
    """A row of `lines` (pattern `numbers-not-read`, captures `rows`) for the form that most of the file's last lines
    have, if they hold results; else none. The session begins at `first_line`; `last_line` is the file's last line.

    A form counts if at least half of its rows have values of their own.
    """
    rows = _rows(last_lines(path, last_line, TAIL_BYTES)).filter(pl.col("line") >= first_line)
    counted = rows.group_by("form").agg(
        pl.len().alias("rows"),
        pl.col("text").n_unique().alias("different"),
        pl.col("line").last(),
        pl.col("text").last(),
    )
    counted = counted.filter(pl.col("rows") >= MIN_ROWS, 2 * pl.col("different") >= pl.col("rows"))
    main = counted.filter(~_is_understood(counted)).sort("rows", "form", descending=True).head(1)
    return table("lines", {
        "session": session, "file": path.name, "line": main["line"], "pattern": PATTERN, "part": "advice",
        "captures": main.select(pl.struct(pl.col("rows").cast(pl.String)).struct.json_encode()).to_series(),
        "text": main["text"].str.head(MAX_TEXT_CHARS),
    })  # fmt: skip


def _rows(lines: pl.DataFrame) -> pl.DataFrame:
    """Those of the lines that may hold results: line, text and form. None if there are too few."""
    text = pl.col("text")
    rows = lines.with_columns(text.str.strip_chars_end("\r").str.split("\r").list.last())
    rows = rows.filter(text.str.len_chars() <= MAX_ROW_CHARS, text.str.contains(_RESULT), ~text.str.contains(_TIMED))
    if rows.height < MIN_ROWS:  # what follows compiles many regexes
        return rows.clear().with_columns(form=text)
    body = described(rows["text"])["body"]
    cleaned = lineforms.cleaned(body).with_columns(rows["line"])
    return cleaned.filter(text.str.contains(_RESULT), ~lineforms.is_noise(text))


def _is_understood(forms: pl.DataFrame) -> pl.Series:
    """Whether numbers of each form are metrics."""
    meanings = [form.meaning(MIN_ROWS) for form in lineforms.learn(forms["text"])]
    return pl.Series([meaning is not None and bool(meaning.slots) for meaning in meanings], dtype=pl.Boolean)
