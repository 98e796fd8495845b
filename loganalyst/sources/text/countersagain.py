"""A training that counts from its first step again: behind a failure, that shows a new start of the program."""

import re

import numpy as np
import polars as pl

from loganalyst.sources.text.lines.linekinds import Look, kind_hashes
from loganalyst.sources.text.lines.loglines import Chunk

# Counters by name, with all numbers that follow: `step 0`, `"step": 20`, `Epoch [1][10/200]`, `iteration       10/     600`
_COUNTER = r"(?i)\b(?:global_?)?(?:epoch|step|iter|iters|iteration|batch|update|round|episode)\b[\"']?[\s:=#\[(|/]*\d+(?:[\s\]\[/]+\d+)*"
_NUMBER = re.compile(r"\d+")
_MAX_CHARS = 2000  # characters of a line that are searched for counters


def first_counted(chunk: Chunk, look: Look) -> str | None:
    """The first line with a loss, "" if it has no counter; None where the batch has no such line.

    >>> bool(counters("step 0 | loss 2.31"))
    True
    """
    rows = np.flatnonzero(look.flags["busy"])
    if not len(rows):
        return None
    text: str = chunk.some(rows[:1])[0][:_MAX_CHARS]
    return text if counters(text) else ""


def counters(text: str) -> list[list[int]]:
    """The numbers behind the names of counters.

    >>> counters("Epoch [1][10/200] loss 0.5")
    [[1, 10, 200]]
    """
    return [[int(number) for number in _NUMBER.findall(found)] for found in re.findall(_COUNTER, text)]


def counted_again(first: str, chunk: Chunk, look: Look, begin: int) -> list[tuple[int, int]]:
    """The lines of a batch, from line `begin` on, that have the kind and the counters of the `first` line, where the
    line of that kind before has other counters. With each line, the line before.
    """
    same = np.flatnonzero(look.hash == kind_hashes(first.encode())[0])
    same = same[max(int(np.searchsorted(chunk.line[same], begin)) - 1, 0) :]
    if len(same) < 2:
        return []
    texts = pl.concat([pl.Series([first], dtype=pl.String), chunk.some(same)]).str.slice(0, _MAX_CHARS)
    words = texts.str.extract_all(_COUNTER).list.join(" ").str.replace_all(r"[^\w]+", " ")
    at_first = (words[1:] == words[0]).to_numpy()
    again = np.flatnonzero(at_first[1:] & ~at_first[:-1]) + 1
    return [(int(chunk.line[same[k]]), int(chunk.line[same[k - 1]])) for k in again]
