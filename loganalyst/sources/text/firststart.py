"""What the first start of a program printed: if it comes again behind a failure, the program started again."""

from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.sources.text import countersagain, openinglines
from loganalyst.sources.text.lines.chunks import Chunk
from loganalyst.sources.text.lines.linekinds import Look, kind_hashes
from loganalyst.sources.text.lines.prefixes import described
from loganalyst.sources.text.patterns.matchedlines import Hits
from loganalyst.sources.text.startevents import FATAL, Event

_BANNER_LINES = 50  # lines: all ranks of one start may print the first line
_FIRST_ROWS = 1000  # rows that are searched for the first line
_MAX_CHARS = 1000  # characters of the first line that are looked at
_DIGITS = str.maketrans("123456789", "0" * 9)


@dataclass
class FirstStart:
    """Lines of the first start of a log.

    first: its first line if that may be a banner, else "". opening: its set-up lines, by line number. counted: its
    first line with a loss, "" if that has no counter. None: not known yet. buffered: the first failure goes before all
    training, as what is printed waits in a buffer.
    """

    first: str | None = None
    opening: dict[int, str] = field(default_factory=dict)
    counted: str | None = None
    buffered: bool | None = None

    def read(self, chunk: Chunk, look: Look) -> None:
        """Remember the lines of a batch that belong to the first start."""
        if self.first is None:
            rows = np.arange(min(len(chunk), _FIRST_ROWS))
            text = next((text for text in chunk.some(rows) if text.strip()), "")
            body = described(pl.Series([text[:_MAX_CHARS]]))["body"][0]
            self.first = text if openinglines.is_banner(text, body) else ""
            self.opening = openinglines.set_up(chunk, look)
        if self.counted is None:
            self.counted = countersagain.first_counted(chunk, look)

    def again(self, hits: Hits, chunk: Chunk, look: Look, after: int, *, trained: bool) -> list[Event]:
        """Events of what comes again in a batch behind the failure on the line `after`; `hits` are the lines that a
        pattern claims. `trained`: there were lines with a loss before the batch.
        """
        return [
            *self._counted_again(hits, chunk, look, trained=trained),
            *((line, "weak", None) for line in self._first_again(chunk, look, after)),
            *((line, "opened", None) for line in openinglines.opened_again(self.opening, chunk, look, after)),
        ]

    def _counted_again(self, hits: Hits, chunk: Chunk, look: Look, *, trained: bool) -> list[Event]:
        """Events of a training whose counters went back behind a failure. The start begins behind the last line of the
        one before: of its training, or one that says how it ended. Where the first failure goes before all training,
        output waits in a buffer, and each start begins with its failure.
        """
        ends = hits.line[hits.with_parts(*FATAL, "confirm")]
        if self.buffered is None and len(ends):
            busy: NDArray[np.int64] = chunk.line[look.flags["busy"]]
            self.buffered = not trained and not (busy < ends.min()).any()
        if not self.counted:
            return []
        found = countersagain.counted_again(self.counted, chunk, look, ends, hits.line)
        lasts = [before if self.buffered else max(before, *ends[ends < line].tolist()) for line, before in found]
        return [(last + 1, "counted", None) for last in lasts]

    def _first_again(self, chunk: Chunk, look: Look, after: int) -> list[int]:
        """The lines behind the line `after` that repeat the first line, apart from numbers."""
        if not self.first:
            return []
        later = chunk.line > max(after, _BANNER_LINES)
        same = np.flatnonzero((look.hash == kind_hashes(self.first.encode())[0]) & later)
        if not len(same):
            return []
        first, *others = (
            body.translate(_DIGITS) for body in described(pl.Series([self.first, *chunk.some(same)]))["body"]
        )
        return [line for line, body in zip(chunk.line[same].tolist(), others, strict=True) if body == first]
