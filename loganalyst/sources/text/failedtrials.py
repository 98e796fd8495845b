"""Failed members of a search: one of several trials, folds or seeds failed, and the program goes on with another.

Such a line tells how the member ended. Neither does it end the program, nor are its numbers steps of a training.
"""

import re
from functools import cache

import numpy as np

from loganalyst.sources.text.lines.loglines import Chunk
from loganalyst.sources.text.lines.numberrecords import Mask
from loganalyst.sources.text.openingwords import opening_words

MAX_FAILED = 1000  # lines of a batch that are examined
_MAX_CHARS = 300  # of such a line


def outlived(chunk: Chunk) -> Mask:
    """The rows that say that a numbered trial failed, with another one of its kind in a later row."""
    found = np.zeros(len(chunk), bool)
    words = opening_words()
    if not any(word.encode() in chunk.data for word in words.trial_fails):
        return found
    hits = re.finditer(b"|".join(word.encode() for word in words.trial_fails), chunk.data)
    places = [hit.start() for hit, _ in zip(hits, range(MAX_FAILED), strict=False)]
    for row in np.unique(np.searchsorted(chunk.starts, places, side="right") - 1).tolist():
        begin, end = int(chunk.starts[row]), int(chunk.starts[row + 1])
        member = _member().search(chunk.data[begin : min(end - 1, begin + _MAX_CHARS)])
        found[row] = member is not None and _another_follows(chunk.data, end, *member.groups())
    return found


def _another_follows(data: bytes, at: int, word: bytes, number: bytes) -> bool:
    """Whether another number of the same word stands behind the place `at`."""
    later = re.compile(rb"(?i)\b" + re.escape(word) + rb"[ #:=_-]{0,3}(\d{1,6})\b")
    return any(int(hit[1]) != int(number) for hit in later.finditer(data, at))


@cache
def _member() -> re.Pattern[bytes]:
    """The word and number of a member that failed: `trial 05 lr=0.1 -> FAILED`, `fold 2 failed`."""
    words = opening_words()
    member, fails = ("|".join(some).encode() for some in (words.trials, words.trial_fails))
    return re.compile(rb"(?i:\b(" + member + rb"))[ #:=_-]{0,3}(\d{1,6})\b[^\n]{0,160}?\b(?:" + fails + rb")\b")
