"""Starts of a program behind an exception that ended the one before, by what is printed in between or next.

A program dies once. Where one process writes a log, lines between two exceptions that nothing caught are of a second
start, and so is a line that repeats, number for number, the first one of an earlier start.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from loganalyst.sources.text.lines.chunks import Chunk
from loganalyst.sources.text.lines.prefixes import described
from loganalyst.sources.text.openingwords import opening_words
from loganalyst.thresholds import blame_limit

MAX_OPENINGS = 32  # first lines of starts that are kept
_MIN_CHARS, _MAX_CHARS = 8, 1000  # of a first line
_LOOKED_AT = 4  # lines behind an exception that are searched for the first of the next start
# `Traceback (most recent call last):`, `  File "a.py"`, `    ^^^^`, `During handling of the above exception, …`
# `2025-04-23 21:28:26,926`, `04-23 21:28:29`, `21:28:29`
_CLOCK = r"(?:\d{2,4}[-/])?(?:\d\d[-/]\d\d[ T])?\d\d:\d\d:\d\d[.,\d]*"
_OF_TRACEBACK = r"^\s|^Traceback \(most recent call last\)|^During handling of the above|^The above exception was"


@dataclass
class Openings:
    """What is remembered of a log: the first lines of its starts, its last exception and how many lines were printed
    behind it, the last start that was found, and whether several processes write it.
    """

    lines: list[str] = field(default_factory=list)
    last: int = 0
    printed: int = 0
    begun: int = 0
    several: bool = False

    def starts(self, chunk: Chunk, uncaught: Sequence[int], busy: NDArray[np.int64]) -> list[int]:
        """The lines of a batch with which a start begins behind the exceptions on the lines `uncaught`.

        Where `busy` lines, which hold a loss, lie between two exceptions, a buffer may have held them.
        """
        self.several |= bool(uncaught) and any(word.encode() in chunk.data.lower() for word in opening_words().several)
        if not self.lines and len(chunk):
            self._keep(self._first_behind(chunk, 0))
        found = []
        for line in [] if self.several else sorted(uncaught):
            trained = bool(((busy > self.last) & (busy < line)).any())
            self.printed += self._printed(chunk, self.last, line)
            if 0 < self.last >= self.begun and not trained and self.printed >= blame_limit("same_work"):
                found.append(self.last + 1)
            place, text = first = self._first_behind(chunk, line)
            if text in self.lines and not self._is_repeated(chunk, text, line):
                found.append(place)
            self._keep(first)
            self.last, self.printed, self.begun = line, 0, max(found, default=self.begun)
        if self.last and not self.several and self.printed < blame_limit("same_work") and len(chunk):
            self.printed += self._printed(chunk, self.last, int(chunk.line[-1]) + 1)
        return found

    def _keep(self, first: tuple[int, str]) -> None:
        if first[1] and first[1] not in self.lines:
            self.lines = [*self.lines, first[1]][-MAX_OPENINGS:]

    @staticmethod
    def _first_behind(chunk: Chunk, line: int) -> tuple[int, str]:
        """The first line with a text behind a line, and the text behind its prefix; "" for one of a traceback."""
        begin = int(np.searchsorted(chunk.line, line, side="right"))
        rows = np.arange(begin, min(begin + _LOOKED_AT, len(chunk)))
        texts = chunk.some(rows)
        held = (texts.str.strip_chars() != "").arg_max() if len(rows) else None
        if held is None or texts.str.contains(_OF_TRACEBACK)[held]:
            return 0, ""
        body: str = described(texts[held : held + 1])["body"].str.replace_all(_CLOCK, "")[0].strip()
        usable = _MIN_CHARS <= len(body) <= _MAX_CHARS and not any(w in body for w in opening_words().training)
        return int(chunk.line[rows[held]]), body if usable else ""

    @staticmethod
    def _is_repeated(chunk: Chunk, text: str, before: int) -> bool:
        """Whether the line comes more than once before an exception, as several ranks print it."""
        texts = chunk.some(np.arange(np.searchsorted(chunk.line, before)))
        return int(texts.str.contains(text, literal=True).sum()) > 1

    @staticmethod
    def _printed(chunk: Chunk, after: int, before: int) -> int:
        """How many lines a program printed between two exceptions, apart from the traceback of the second."""
        begin, end = np.searchsorted(chunk.line, (after + 1, before)).tolist()
        texts = chunk.some(np.arange(begin, end))
        return int(((texts.str.strip_chars() != "") & ~texts.str.contains(_OF_TRACEBACK)).sum()) if len(texts) else 0
