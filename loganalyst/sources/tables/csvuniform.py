"""The fast path for uniform rows, parsed by polars in one call: each row has one number or text for each name.

Blocks with anything else (ragged or blank rows, comments, repeated headers, odd cells) are left to `cells`, which
looks at each cell.
"""

from collections.abc import Collection, Sequence

import numpy as np
import polars as pl

from loganalyst.model import constant
from loganalyst.sources.files.lineblocks import Block, count
from loganalyst.sources.tables.cells import ABSENT, Rows, with_values

_ABSENT = sorted({spelt for word in ABSENT if word for spelt in (word, word.upper(), word.title())})


def rows(block: Block, sep: str, header: Sequence[str], words: Collection[str]) -> Rows | None:
    """The rows of a block below `header`, with the columns `words` as texts; None where a row is not uniform."""
    height = block.breaks + (not block.data.endswith(b"\n"))
    # polars panics where the data end inside a quote (2.1)
    odd = b'"' in block.data and (words or count(block.data, b'"') % 2)
    if odd or b"#" in block.data:
        return None
    # `null_values` costs a third of the time, so the first attempt goes without it
    frame = _frame(block.data, sep, header, words, None)
    if frame is None:
        frame = _frame(block.data, sep, header, words, _ABSENT)
    if frame is None or frame.height != height or not _filled(frame, block.data, sep):
        return None
    if words:
        frame = frame.with_columns([with_values(pl.col(n).str.strip_chars()) for n in header if n in words])
    texts = frame.to_dict()
    if any(texts[n].cast(pl.Float64, strict=False).count() for n in words):
        return None
    nothing = constant(None, height, pl.Float64)
    values = {n: nothing if n in words else c for n, c in texts.items()}
    return Rows(pl.int_range(block.line, block.line + height, dtype=pl.Int64, eager=True), texts, values)


def _frame(
    data: bytes, sep: str, header: Sequence[str], words: Collection[str], absent: Sequence[str] | None
) -> pl.DataFrame | None:
    try:
        return pl.read_csv(
            data,
            has_header=False,
            separator=sep,
            schema={name: pl.String if name in words else pl.Float64 for name in header},
            null_values=absent,
            decimal_comma=sep == ";" and b"," in data,
        )
    except (pl.exceptions.PolarsError, OSError):  # OSError: it begins like a compressed file, as `x^2` does
        return None


def _filled(frame: pl.DataFrame, data: bytes, sep: str) -> bool:
    """Whether every row has one cell per column.

    Polars fills short rows with NULL. It rejects longer rows, except for one more cell that is empty.
    """
    if not frame.to_series(-1).null_count():
        return True
    text = np.frombuffer(data, np.uint8)
    separators, breaks = np.flatnonzero(text == ord(sep)), np.flatnonzero(text == ord("\n"))
    before = np.searchsorted(separators, breaks if data.endswith(b"\n") else np.append(breaks, len(data)))
    return bool(frame.width > 1 and (np.diff(before, prepend=0) == frame.width - 1).all())
