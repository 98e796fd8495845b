"""Headings of held-out results: `Test Error:` or `Running Validation...`, whose numbers follow on the next lines."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.sources.text.lines.chunks import Chunk

# `Test Error: `, `Running Validation...`, `Eval begin...`, `--- Validation ---`, `[Testing]`, `Epoch 3 Validation`,
# `----- Validation 12 -----`, `Testergebnis`
HEADING = (
    r"(?i)^[\W_]*(?:(?:epoch|step|iteration|iter)[\s:#\[(]{0,3}\d+[\s:\])/,|\-\d]{0,14})?(?:(?:running|run|start(?:ing)?|begin(?:ning)?|perform(?:ing)?|on)\s)?(?:the\s)?(?:model\s)?"
    r"(?:test|testing|testergebnis(?:se)?|evaluate|evaluating|evaluation|eval|validate|validating|validation|valid|val|dev)"
    r"(?:\s(?:error|set|results?|metrics|phase|performance|loop|stage|scores?|stats|statistics|report|summary|data|"
    r"model|begin|started|the model|"
    r"on (?:the )?(?:test|validation|val|dev|held-?out)(?: (?:set|data|split))?))?(?:\s\d{1,6}\s?[\-=*#]{3,})?[\W_]*$"
)
# A line about the training ends them: `Epoch 3`, `train_loss`, `step 100`
CLOSES = r"(?i)\b(?:epoch|train\w*|fold|batch|iter\w*|global step)|\bstep[:=\s]+\d+(?:[^/\d]|$)"
MAX_LINES = 12  # lines that the results take
_WORD = r"(?i)(test|eval|valid|val|dev)"

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]


def marks(chunk: Chunk, heading: Mask, closes: Mask, rows: Rows) -> pl.Series:
    """What to put before each of the rows (String): `Test: ` under a heading of test results, mostly nothing.

    The heading is at most MAX_LINES lines above, and no line about the training is between.
    """
    if not heading.any():
        return pl.repeat("", len(rows), eager=True)
    above = _above(chunk.line, heading, closes)[rows]
    opened = np.unique(above[above >= 0])
    words = chunk.some(opened).str.extract(_WORD) + ": "
    return pl.Series(above).replace_strict(pl.Series(opened, dtype=pl.Int64), words, default="", return_dtype=pl.String)


def _above(line: Rows, heading: Mask, closes: Mask) -> Rows:
    """The row of the heading that each row stands under, or -1. Refreshes of a bar share one number of a line."""
    row = np.arange(len(line))
    opened = np.maximum.accumulate(np.where(heading, row, -1))
    closed = np.maximum.accumulate(np.where(closes & ~heading, row, -1))
    in_reach = line - line[np.maximum(opened, 0)] <= MAX_LINES
    return np.where((opened > closed) & in_reach & ~heading, opened, -1)
