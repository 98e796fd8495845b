"""Where many texts stand in many bytes: a first look at every line of a log, by hyperscan, else by polars.

Of hyperscan's ways to look for hundreds of texts the one with steps of two bytes suits best; it takes it where a text
has three bytes. Then 10,000 texts cost a fifth more than 800. Of what it finds the rest is compared here.
"""

from array import array
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

# On every line of Megatron: in these texts these literals tell nothing, and are passed over.
_ASIDE = {
    "nan": "number of nan iterations",
    "number of skipped iterations:": "number of skipped iterations:   0 ",
}
_WORD = 3  # letters of a literal's last word that are looked for

Rows = NDArray[np.int64]
Clue = tuple[bytes, bytes, int]


def found(data: bytes, ends: Rows, literals: list[str]) -> tuple[Rows, Rows]:
    """Where each of `literals` stands in `data` (UTF-8): the line and the literal (positions, int64), each pair at
    least once, in no order. `ends` are the places of the LF that ends each line.
    """
    scanner = _scanner(tuple(literals))
    if scanner is None:
        return _searched(data, literals)
    database, clues = scanner
    seen = array("q")
    append = seen.append

    def note(number: int, _start: int, end: int, _flags: int, _context: object) -> None:
        append(number)
        append(end)

    database.scan(data, match_event_handler=note)
    numbers, places = np.frombuffer(seen, np.int64).reshape(-1, 2).T
    kept = np.ones(len(numbers), bool)
    for number, at in groups(numbers):
        rest, aside, before = clues[number]
        if aside:
            kept[at] = ~_stands(data, places[at] - before, aside)
        if rest:
            kept[at] &= _stands(data, places[at], rest)
    return np.searchsorted(ends, places[kept]), numbers[kept]


def groups(numbers: Rows) -> Iterator[tuple[int, Rows]]:
    """Each number that is there, and its positions."""
    order = np.argsort(numbers, kind="stable")
    bounds = np.flatnonzero(np.diff(numbers[order], prepend=-1, append=-1))
    for first, last in pairwise(bounds.tolist()):
        yield int(numbers[order[first]]), order[first:last]


def _stands(data: bytes, at: Rows, text: bytes) -> NDArray[np.bool_]:
    """Whether `text` stands at each of the places (they may be outside of `data`)."""
    last = len(data) - len(text)
    if last < 0:
        return np.zeros(len(at), bool)
    windows, inside = np.ndarray(last + 1, f"S{len(text)}", data, strides=1), at.clip(0, last)
    same: NDArray[np.bool_] = (windows[inside] == text) & (inside == at)
    return same


def _searched(data: bytes, literals: list[str]) -> tuple[Rows, Rows]:
    """The same without hyperscan."""
    lines = pl.Series("text", [data.decode()]).str.split("\n").explode()
    said = pl.DataFrame({"text": lines}).with_row_index("row").filter(pl.col("text").str.contains_any(literals))
    words = pl.col("text").str.extract_many(literals, overlapping=True).list.unique()
    said = said.with_columns(word=words).explode("word")
    for word, aside in _ASIDE.items():
        often, passed = (pl.col("text").str.count_matches(text, literal=True) for text in (word, aside))
        said = said.filter((pl.col("word") != word) | (often > passed))
    number = {word: number for number, word in enumerate(literals)}
    return said["row"].cast(pl.Int64).to_numpy(), said["word"].replace_strict(number, return_dtype=pl.Int64).to_numpy()


@cache
def _scanner(literals: tuple[str, ...]) -> tuple[Any, list[Clue]] | None:
    """The hyperscan database of the heads of all literals, and for each its rest, the text in which it is passed over
    and how far before the head's end that text begins. None where hyperscan is not there (polars serves, slower).
    """
    try:
        import hyperscan
    except ImportError:
        return None
    heads = [_head(literal) for literal in literals]
    database = hyperscan.Database()
    words = [head.encode() for head in heads]
    database.compile(expressions=words, ids=list(range(len(words))), flags=[0] * len(words), literal=True)
    return database, [_clue(*both) for both in zip(literals, heads, strict=True)]


def _head(literal: str) -> str:
    """What of a literal is looked for first: all but the end of its last word.

    Hyperscan knows a literal by its last eight bytes: a whole word there ("... in checkpoint") stands on many healthy
    lines, and each costs a second look; the end of one word and the begin of the next stand on few.
    """
    end = literal.rfind(" ", 0, -_WORD) + 1 + _WORD
    return literal[:end] if end >= 8 else literal


def _clue(literal: str, head: str) -> Clue:
    aside = _ASIDE.get(literal, "")
    return literal.removeprefix(head).encode(), aside.encode(), aside.find(head) + len(head)
