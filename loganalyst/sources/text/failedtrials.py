"""Failed members of a search: one of several trials, folds or seeds failed, and the program goes on with another.

Such a line tells how the member ended. Neither does it end the program, nor are its numbers steps of a training.
"""

import re
from functools import cache
from typing import NamedTuple

import numpy as np

from loganalyst.sources.text.lines.chunks import Chunk
from loganalyst.sources.text.lines.numberrecords import Mask
from loganalyst.sources.text.openingwords import opening_words

MAX_FAILED = 1000  # lines of a batch that are examined
_MAX_CHARS = 300  # of such a line


class _Failed(NamedTuple):
    """A member that failed: its row, the end of the row in the data, its word and its number."""

    row: int
    end: int
    word: bytes
    number: int


def outlived(chunk: Chunk) -> Mask:
    """The rows that say that a numbered trial failed, with another one of its kind in a later row."""
    found = np.zeros(len(chunk), bool)
    failed = _failed(chunk)
    last = {word: _last_places(chunk.data, min(one.end for one in failed), word) for word in {f.word for f in failed}}
    for one in failed:
        found[one.row] = any(at >= one.end for number, at in last[one.word].items() if number != one.number)
    return found


def _failed(chunk: Chunk) -> list[_Failed]:
    """The members that failed, in order."""
    if not any(word.encode() in chunk.data for word in opening_words().trial_fails):
        return []
    places = [hit.start() for hit, _ in zip(_fails().finditer(chunk.data), range(MAX_FAILED), strict=False)]
    found = []
    for row in np.unique(np.searchsorted(chunk.starts, places, side="right") - 1).tolist():
        begin, end = int(chunk.starts[row]), int(chunk.starts[row + 1])
        if member := _member().search(chunk.data[begin : min(end - 1, begin + _MAX_CHARS)]):
            found.append(_Failed(row, end, member[1].lower(), int(member[2])))
    return found


def _last_places(data: bytes, begin: int, word: bytes) -> dict[int, int]:
    """The last place of each number of a word: `trial 7`, `trial #8`."""
    return {int(hit[1]): hit.start() for hit in _numbered(word).finditer(data, begin)}


@cache
def _fails() -> re.Pattern[bytes]:
    return re.compile("|".join(opening_words().trial_fails).encode())


@cache
def _numbered(word: bytes) -> re.Pattern[bytes]:
    """The numbers of a word."""
    return re.compile(rb"(?i)\b" + word + rb"[ #:=_-]{0,3}(\d{1,6})\b")


@cache
def _member() -> re.Pattern[bytes]:
    """The word and number of a member that failed: `trial 05 lr=0.1 -> FAILED`, `fold 2 failed`."""
    words = opening_words()
    member, fails = ("|".join(some).encode() for some in (words.trials, words.trial_fails))
    return re.compile(rb"(?i:\b(" + member + rb"))[ #:=_-]{0,3}(\d{1,6})\b[^\n]{0,160}?\b(?:" + fails + rb")\b")
