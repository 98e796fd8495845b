"""Rows of a log that quote other text."""

import numpy as np

from loganalyst.sources.text.lines.chunks import chunk_of
from loganalyst.sources.text.lines.linekinds import Kinds, kind_hashes
from loganalyst.sources.text.metrics.quotedlines import quoted

LOG = """loss: 0.5
Traceback (most recent call last):
  File "a.py", line 3
ValueError: got 7
loss: 0.4
>>> loss(1)
0.25
loss: 0.3"""


def test_a_trace_ends_with_its_error_and_an_example_with_its_answer() -> None:
    """The rows 1 to 3, and 5 and 6."""
    chunk = chunk_of(LOG.encode(), np.arange(8))
    look = Kinds().look(chunk, kind_hashes(chunk.data))

    assert np.flatnonzero(quoted(chunk, look, np.arange(len(chunk)))).tolist() == [1, 2, 3, 5, 6]


def test_without_a_row_that_may_open_one_nothing_is_quoted() -> None:
    chunk = chunk_of(LOG.encode(), np.arange(8))
    look = Kinds().look(chunk, kind_hashes(chunk.data))

    assert not quoted(chunk, look, np.arange(0)).any()
