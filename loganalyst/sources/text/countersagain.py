"""A training that counts from its first step again: behind a failure, that shows a new start of the program."""

import re

import numpy as np
from numpy.typing import NDArray

from loganalyst.sources.text.lines.chunks import Chunk
from loganalyst.sources.text.lines.linekinds import Look, kind_hashes
from loganalyst.sources.text.openingwords import states_fault

# Counters by name, with all numbers that follow: `step 0`, `"step": 20`, `Epoch [1][10/200]`, `iteration  10/   600`
_COUNTER = (
    r"(?i)\b(?:global_?)?(?:epoch|step|iter|iters|iteration|batch|update|round|episode)\b[\"']?[\s:=#\[(|/]*"
    r"\d+(?:[\s\]\[/]+\d+)*"
)
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


def counted_again(
    first: str, chunk: Chunk, look: Look, failures: NDArray[np.int64], claimed: NDArray[np.int64]
) -> list[tuple[int, int]]:
    """The lines of a batch with which training begins again behind `failures` (line numbers), each with the line of its
    kind before. They are of the kind of the `first` line.

    A line with the counters of the first one begins a training. So does one with no higher counters than the line
    before, if the next one counts on from it and a line that no pattern `claimed` announces it: what other ranks still
    wrote has no such line.
    """
    same = np.flatnonzero(look.hash == kind_hashes(first.encode())[0])
    lines = chunk.line[same]
    behind = np.unique(np.searchsorted(lines, failures))
    behind = behind[(behind > 0) & (behind < len(same))]
    found = []
    for k in behind.tolist():
        before, here, *after = (counters(text[:_MAX_CHARS]) for text in chunk.some(same[k - 1 : k + 2]))
        lower = bool(here) and here <= before and (here < after[0] if after else False)
        if (here == counters(first) != before) or (lower and _is_announced(chunk, look, int(same[k]), claimed)):
            found.append((int(lines[k]), int(lines[k - 1])))
    return found


def _is_announced(chunk: Chunk, look: Look, row: int, claimed: NDArray[np.int64]) -> bool:
    """Whether the line above a row is of the program's own words: no metric, no fault, no line of a traceback."""
    above = row - 1
    if above < 0 or look.flags["busy"][above] or look.flags["prefixed"][above] or chunk.line[above] in claimed:
        return False
    text = str(chunk.some(np.array([above]))[0])
    return text[:1].isalnum() and not states_fault(text)
