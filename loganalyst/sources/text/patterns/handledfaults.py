"""Faults that the program caught: their own line, or the next one, says what it did instead (`rules/wording.yaml`)."""

import numpy as np
import polars as pl

from loganalyst.sources.text.lines import heads
from loganalyst.sources.text.lines.chunks import Chunk
from loganalyst.sources.text.lines.numberrecords import Integers, Mask
from loganalyst.sources.text.patterns import unknownerrors

# Every such message contains one of these
_STEMS = ("skip", "retry", "tries", "try", "fall", "fell", "ignor", "continu", "instead", "using", "reduc", "halv",
          "lower", "decreas", "attempt", "created a temp", "│")  # fmt: skip


def says_handled(message: pl.Series) -> pl.Series:
    """Which messages say what the program does about an error.

    >>> says_handled(pl.Series(["a.jpg: cannot read, skipped", "Aborting.", "use float instead"])).to_list()
    [True, False, False]
    """
    words = message.str.head(unknownerrors.MAX_MESSAGE_CHARS)
    if not _has_stem(words):
        return pl.repeat(value=False, n=len(words), eager=True)  # compiling the regex costs most
    return words.str.contains(unknownerrors.speech("handled"))


def _has_stem(text: pl.Series) -> bool:
    return bool(text.str.contains_any([*_STEMS], ascii_case_insensitive=True).any())


def told(chunk: Chunk, row: Integers) -> Mask:
    """Which rows of a batch say it themselves, or on the next line."""
    behind = np.minimum(row + 1, len(chunk) - 1)
    lines = pl.Series([*chunk.some(row), *chunk.some(behind)], dtype=pl.String)
    if not _has_stem(lines):
        return np.zeros(len(row), bool)
    said: Mask = says_handled(heads.without_bars(lines)).to_numpy()
    return said[: len(row)] | said[len(row) :]
