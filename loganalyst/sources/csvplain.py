"""Rows that are all alike, read by polars at once: one number or text a cell, as many cells as names.

Anything else (ragged or blank rows, comments, headers that stand again, cells that are neither) is left to `cells`,
which looks at each cell: there are then no columns here.
"""

from collections.abc import Collection, Sequence

import polars as pl

from loganalyst.sources.cells import ABSENT, Rows, given
from loganalyst.sources.textblocks import Block, count

_ABSENT = sorted({spelt for word in ABSENT if word for spelt in (word, word.upper(), word.title())})


def rows(block: Block, sep: str, header: Sequence[str], words: Collection[str]) -> Rows | None:
    """The rows of a block below `header`, the columns `words` as texts; None where one of them is not plain."""
    height = _count(block.data, sep, len(header))
    if not height or (words and b'"' in block.data) or b"#" in block.data:
        return None
    try:
        frame = pl.read_csv(
            block.data,
            has_header=False,
            separator=sep,
            schema={name: pl.String if name in words else pl.Float64 for name in header},
            null_values=_ABSENT,
            decimal_comma=sep == ";" and b"," in block.data,
            low_memory=True,
        )
    except pl.exceptions.PolarsError:
        return None
    if frame.height != height or (frame.width == 1 and frame.to_series().null_count()):
        return None
    texts = {n: given(c.str.strip_chars()) if n in words else c for n, c in zip(header, frame, strict=True)}
    values = {n: c if c.dtype == pl.Float64 else _nothing(height) for n, c in texts.items()}
    if any(c.dtype == pl.String and c.cast(pl.Float64, strict=False).count() for c in texts.values()):
        return None
    return Rows(pl.int_range(block.line, block.line + height, dtype=pl.Int64, eager=True), texts, values)


def _count(data: bytes, sep: str, width: int) -> int:
    """How many rows there are, if each has `width` cells; else 0."""
    rows = count(data, b"\n") + (not data.endswith(b"\n"))
    return rows if count(data, sep.encode()) == rows * (width - 1) else 0


def _nothing(rows: int) -> pl.Series:
    return pl.repeat(None, rows, dtype=pl.Float64, eager=True)
