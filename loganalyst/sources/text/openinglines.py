"""The set-up lines with which a program opens its log: if they come again, the program started again."""

import re
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.sources.text.lines.chunks import Chunk
from loganalyst.sources.text.lines.linekinds import Look, kind_hashes
from loganalyst.sources.text.lines.prefixes import described
from loganalyst.sources.text.openingwords import opening_words, states_fault

# a failure begins: what ranks print behind it is no set-up
_FAILS = re.compile(r'Traceback \(most recent call last\)|Fatal Python error|^\s+File "')
OPENING_LINES = 60  # lines of a log that are searched for set-up lines
MAX_APART = 5  # lines from one set-up line to the next
_MIN_CHARS, _MAX_CHARS = 12, 1000  # characters of a set-up line
_DIGITS = str.maketrans("123456789", "0" * 9)


def is_banner(text: str, body: str) -> bool:
    """Whether a line, with `body` behind its prefix, may be a banner. Frames of tracebacks are indented.

    >>> is_banner("Loading config base.yaml", "Loading config base.yaml")
    True
    >>> is_banner("step 1 loss 0.5", "step 1 loss 0.5")
    False
    """
    return (
        len(body) >= _MIN_CHARS
        and len(text) < _MAX_CHARS
        and not body[:1].isspace()
        and not any(word in body for word in opening_words().training)
    )


def set_up(chunk: Chunk, look: Look) -> dict[int, str]:
    """The set-up lines of a log whose first batch is `chunk`, by line number: banners before the first loss and
    traceback that state no fault and are printed once: several ranks print theirs at the same time.
    """
    busy = np.flatnonzero(look.flags["busy"][:OPENING_LINES])
    rows = np.arange(min(len(chunk), OPENING_LINES, *busy[:1].tolist()))
    texts = chunk.some(rows).to_list()
    bodies = _bodies(texts)
    fails = next((row for row, body in enumerate(bodies) if _FAILS.search(body)), len(bodies))
    plain = [
        is_banner(text, body) and not states_fault(body) and not _warns(body)
        for text, body in zip(texts, bodies, strict=True)
    ]
    kept = [row for row in range(fails) if plain[row] and bodies[:fails].count(bodies[row]) == 1]
    return {int(chunk.line[row]): texts[row] for row in kept}


def _warns(body: str) -> bool:
    return any(word in body.lower() for word in opening_words().warnings)


def opened_again(opening: Mapping[int, str], chunk: Chunk, look: Look, after: int) -> list[int]:
    """The lines of a batch behind the line `after` that begin the set-up lines anew: two of them follow each other
    closely, in their order.
    """
    if len(opening) < 2:
        return []
    hashes = kind_hashes("\n".join(opening.values()).encode())
    same = np.flatnonzero(np.isin(look.hash, hashes) & (chunk.line > max(opening)))
    first = int(np.searchsorted(chunk.line[same], after, side="right"))
    same = same[max(first - 1, 0) :]  # the line before tells whether it begins there
    if len(same) < 2:
        return []
    places = _places(chunk.some(same), _bodies([*opening.values()]))
    lines = chunk.line[same]
    follows = (places[:-1] >= 0) & (places[:-1] < places[1:]) & (np.diff(lines) <= MAX_APART)
    begins = follows & ~np.concatenate([[False], follows[:-1]])
    found: list[int] = lines[:-1][begins & (lines[:-1] > after)].tolist()
    return found


def _places(texts: pl.Series, bodies: Sequence[str]) -> NDArray[np.int64]:
    """The last place of each text among the set-up lines of these bodies; -1: it is none of them."""
    known = {body: place for place, body in enumerate(bodies)}
    body = described(texts)["body"].str.replace_all("[1-9]", "0")
    return body.replace_strict(known, default=-1, return_dtype=pl.Int64).to_numpy()


def _bodies(texts: Sequence[str]) -> list[str]:
    """The texts behind their prefixes, with every digit as 0."""
    bodies = described(pl.Series(texts, dtype=pl.String))["body"].to_list() if len(texts) else []
    return [body.translate(_DIGITS) for body in bodies]
