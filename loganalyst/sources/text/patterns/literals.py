"""Search many texts in many bytes: a first look at every line of a log, by hyperscan, else by polars.

Hyperscan searches hundreds of texts fastest in steps of two bytes; it chooses that way if each text has at least three
bytes. Then 10,000 texts cost a fifth more than 800. The rest of each text that it finds is compared here.
"""

import re
from array import array
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.sources.text.patterns import literaldatabase

# Megatron prints these texts on every line; the literals in them say nothing, and are ignored there
_IGNORED_IN = {
    "nan": "number of nan iterations",
    "number of skipped iterations:": "number of skipped iterations:   0 ",
}
# Behind a literal of `alone` no letter follows in its line, as in `step 48`
_NO_LETTER_FOLLOWS = r"[^A-Za-z_\n]*$"
_LAST_WORD_CHARS = 3  # letters of a literal's last word that are searched for

Rows = NDArray[np.int64]
Clue = tuple[bytes, bytes, int]


def find_literals(
    data: bytes, ends: Rows, literals: list[str], once: int = 0, alone: frozenset[str] = frozenset()
) -> tuple[Rows, Rows]:
    """The occurrences of `literals` in `data` (UTF-8): line and literal (positions, int64), each pair at least once, in
    no order. `ends` are the places of the LF that ends each line. Of the last `once` literals one occurrence is enough.
    Those in `alone` count only where no letter follows in the line: most lines with metrics hold them.
    """
    scanner = _scanner(tuple(literals), once, alone)
    if scanner is None:
        return _found_by_polars(data, literals, alone)
    database, clues = scanner
    seen = array("q")
    append = seen.append

    def note(number: int, _start: int, end: int, _flags: int, _context: object) -> None:
        append(number)
        append(end)

    database.scan(data, match_event_handler=note)
    numbers, places = np.frombuffer(seen, np.int64).reshape(-1, 2).T
    kept = np.ones(len(numbers), bool)
    for number, at in positions_by_number(numbers):
        tail, aside, before = clues[number]
        if aside:
            kept[at] = ~_occurs_at(data, places[at] - before, aside)
        if tail:
            kept[at] &= _occurs_at(data, places[at], tail)
    return np.searchsorted(ends, places[kept]), numbers[kept]


def positions_by_number(numbers: Rows) -> Iterator[tuple[int, Rows]]:
    """Each number that occurs, and its positions."""
    order = np.argsort(numbers, kind="stable")
    bounds = np.flatnonzero(np.diff(numbers[order], prepend=-1, append=-1))
    for first, last in pairwise(bounds.tolist()):
        yield int(numbers[order[first]]), order[first:last]


def _occurs_at(data: bytes, at: Rows, text: bytes) -> NDArray[np.bool_]:
    """Whether `text` occurs at each of the places (they may be outside of `data`)."""
    last = len(data) - len(text)
    if last < 0:
        return np.zeros(len(at), bool)
    windows, inside = np.ndarray(last + 1, f"S{len(text)}", data, strides=1), at.clip(0, last)
    same: NDArray[np.bool_] = (windows[inside] == text) & (inside == at)
    return same


def _found_by_polars(data: bytes, literals: list[str], alone: frozenset[str]) -> tuple[Rows, Rows]:
    """As `find_literals`, without hyperscan."""
    lines = pl.Series("text", [data.decode()]).str.split("\n").explode()
    hits = pl.DataFrame({"text": lines}).with_row_index("row").filter(pl.col("text").str.contains_any(literals))
    words = pl.col("text").str.extract_many(literals, overlapping=True).list.unique()
    hits = hits.with_columns(word=words).explode("word")
    for word, aside in _IGNORED_IN.items():
        often, passed = (pl.col("text").str.count_matches(text, literal=True) for text in (word, aside))
        hits = hits.filter((pl.col("word") != word) | (often > passed))
    for word in alone:
        stands_alone = pl.col("text").str.contains(re.escape(word) + _NO_LETTER_FOLLOWS)
        hits = hits.filter((pl.col("word") != word) | stands_alone)
    numbers = pl.DataFrame({"word": literals}).with_row_index("number")  # two may have the same text
    hits = hits.join(numbers, on="word", maintain_order="left")
    return hits["row"].cast(pl.Int64).to_numpy(), hits["number"].cast(pl.Int64).to_numpy()


@cache
def _scanner(literals: tuple[str, ...], once: int, alone: frozenset[str]) -> tuple[Any, list[Clue]] | None:
    """The hyperscan database of the heads of all literals, and the clue for each literal. None where hyperscan is not
    installed (polars does the work, slower). The last `once` literals are searched whole, and reported once.
    """
    try:
        import hyperscan
    except ImportError:
        return None
    many = len(literals) - once
    heads = [*map(_head, literals[:many]), *literals[many:]]
    rests = [_NO_LETTER_FOLLOWS if head in alone else "" for head in heads]
    flags = [hyperscan.HS_FLAG_MULTILINE] * many + [hyperscan.HS_FLAG_SINGLEMATCH] * once
    regexes = [_escaped(head) + rest.encode() for head, rest in zip(heads, rests, strict=True)]
    return literaldatabase.database(regexes, flags), [_clue(*both) for both in zip(literals, heads, strict=True)]


def _head(literal: str) -> str:
    """The part of a literal that hyperscan searches: all but the end of its last word.

    Hyperscan identifies a literal by its last eight bytes. A whole word there ("... in checkpoint") is on many healthy
    lines, and each costs a second look; the end of one word and the begin of the next are on few.
    """
    end = literal.rfind(" ", 0, -_LAST_WORD_CHARS) + 1 + _LAST_WORD_CHARS
    return literal[:end] if end >= 8 else literal


def _escaped(text: str) -> bytes:
    """A regex of exactly these bytes, such as `\\x6f\\x6b`: hyperscan takes it for a literal."""
    return (r"\x" + text.encode().hex(" ").replace(" ", r"\x")).encode()


def _clue(literal: str, head: str) -> Clue:
    """The rest of a literal behind its head, the text in which the literal is ignored, and how far before the head's
    end that text begins.
    """
    aside = _IGNORED_IN.get(literal, "")
    return literal.removeprefix(head).encode(), aside.encode(), aside.find(head) + len(head)
