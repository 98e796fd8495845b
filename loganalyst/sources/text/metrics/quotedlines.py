"""Rows of a log that quote other text: stack traces, and examples of Python's prompt. Their numbers are no results."""

import numpy as np
import polars as pl

from loganalyst.sources.text.lines.chunks import Chunk
from loganalyst.sources.text.lines.linekinds import Look, Mask, Rows
from loganalyst.sources.text.lines.prefixes import described
from loganalyst.sources.text.metrics import lineforms

MAX_TRACE_ROWS = 400  # rows between a trace's header and its error
_OPENS = "Traceback (most recent call last)"
_NAME = "[A-Za-z_][A-Za-z0-9_]*"
# `torch.cuda.OutOfMemoryError: `, `KeyboardInterrupt`, `RayTaskError(ValueError): `
_ERROR = rf"^(?:{_NAME}\.)+{_NAME}(?:\([A-Za-z0-9_]+\))?(?::|$)|^[A-Z_][A-Za-z0-9_]*(?:\([A-Za-z0-9_]+\))?(?::|$)"


def quoted(chunk: Chunk, look: Look, opens: Rows) -> Mask:
    """The rows of stack traces and of examples, which begin in the rows `opens`. A trace has the indented rows of its
    rank, from its header to the line that names the error; other rows between them belong to other processes.
    """
    quoted = np.zeros(len(chunk), bool)
    if len(opens):
        ranks = bool(look.flags["prefixed"].any())
        rows = _rows_behind(len(chunk), opens, len(chunk) if ranks else MAX_TRACE_ROWS + 1)
        text = chunk.some(rows)
        lines = described(text).select("prefix", text="body") if ranks else pl.DataFrame({"prefix": "", "text": text})
        quoted[rows] = _is_quote(lines.with_columns(pl.Series("row", rows)))
    return quoted


def _rows_behind(rows: int, opens: Rows, reach: int) -> Rows:
    """The rows from the one before each of `opens` to `far` behind it."""
    edges = np.zeros(rows + 1, np.int64)
    np.add.at(edges, np.maximum(opens - 1, 0), 1)
    np.add.at(edges, np.minimum(opens + reach + 1, rows), -1)
    return np.flatnonzero(np.cumsum(edges[:-1]) > 0)


def _is_quote(rows: pl.DataFrame) -> Mask:
    """Which lines (prefix, text, row) belong to traces and examples."""
    line, bare, row, opens = (pl.col(name) for name in ("line", "bare", "row", "opens"))
    # in steps: polars computes an expression again in each expression that contains it
    # `[rank3]: `, `3: `
    rows = rows.with_columns_seq(line=pl.col("text").str.replace(r"^\[?(?:rank)?[0-9]+\]?: ?", ""))
    rows = rows.with_columns_seq(bare=line.str.strip_chars_start(), opens=line.str.starts_with(_OPENS))
    rows = rows.with_columns_seq(
        names=line.str.contains(_ERROR) & ~opens,
        indented=opens | (bare != line) | (line == ""),
        example=bare.str.starts_with(">>>") & ~bare.str.contains(lineforms.PRINTED),
        header=pl.when(opens).then(row),
    )
    begun = pl.when(opens).then(True).when("names").then(False)
    rows = rows.with_columns_seq(
        begun.forward_fill().over("prefix").alias("begun"), pl.col("header").forward_fill().over("prefix")
    )
    rows = rows.with_columns_seq(inside=pl.col("begun") & (row - pl.col("header") <= MAX_TRACE_ROWS))
    inside, example = pl.col("inside"), pl.col("example")
    ended = pl.col("names") & inside.shift().over("prefix")
    quoted = (inside & pl.col("indented")).fill_null(False) | ended.fill_null(False) | example
    quoted |= example.shift(fill_value=False)
    return rows.select_seq(quoted).to_series().to_numpy()
