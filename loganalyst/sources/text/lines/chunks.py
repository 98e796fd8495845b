"""The rows of a batch of a log, with line numbers and byte offsets."""

import io
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.sources.text.lines.lineplaces import line_starts
from loganalyst.sources.text.lines.prefixes import described

# A longer row loses its middle, which holds nothing that is read
MAX_ROW_BYTES = 1 << 16
# Rows are cut out one by one if they are fewer than a quarter of the batch; else all texts are split
CUT_OUT_SHARE = 4
# From this size on polars splits lines faster than Python
POLARS_BYTES = 1 << 17
# A text may begin like a compressed file, as `x^2` does, and polars would unpack it: zlib, gzip, zstd
_PACKED = (b"x\x01", b"x^", b"x\x9c", b"x\xda", b"\x1f\x8b", b"(\xb5/\xfd")


@dataclass(frozen=True)
class Chunk:
    """The rows of a batch: the text between the LF of `data`, which is cleaned UTF-8.

    Arrays of int64: `starts` has the places in `data` where the rows begin, and one more where the next row would.
    `line` is the number of each row's line, counted at LF of the file only. `offset` is the line's start in the file
    (None in UTF-16).

    A line with CR gives a row for each refresh, and so does each piece of a line longer than a batch. Rows
    above MAX_ROW_BYTES lack their middle. `plain`: the file holds the same bytes as `data`.
    """

    data: bytes
    starts: NDArray[np.int64]
    line: NDArray[np.int64]
    offset: NDArray[np.int64] | None
    plain: bool = False

    def __len__(self) -> int:
        return len(self.line)

    def reaches(self, size: int) -> bool:
        """Whether the last row certainly ends a file of `size` bytes."""
        if self.offset is None or not len(self):
            return False
        return bool(self.offset[-1] + self.starts[-1] - self.starts[-2] >= size)

    def shortened(self) -> NDArray[np.int64]:
        """The rows that lack their middle."""
        return np.flatnonzero(np.diff(self.starts) - 1 > MAX_ROW_BYTES)

    @cached_property
    def texts(self) -> pl.Series:
        """The text of all rows."""
        return split(self.data)

    def some(self, rows: NDArray[np.int64]) -> pl.Series:
        """The text of the given rows."""
        if len(rows) * CUT_OUT_SHARE > len(self):
            return self.texts.gather(rows)
        bounds = zip(self.starts[rows].tolist(), (self.starts[rows + 1] - 1).tolist(), strict=True)
        return pl.Series("", [self.data[a:b].decode() for a, b in bounds], dtype=pl.String)

    def rows(self, rows: NDArray[np.int64]) -> pl.DataFrame:
        """row, line, offset, text, prefix, body, rank and node of the given rows."""
        offset = [None] * len(rows) if self.offset is None else self.offset[rows]
        placed = [pl.Series("row", rows), pl.Series("line", self.line[rows]), pl.Series("offset", offset, pl.Int64)]
        return described(self.some(rows)).hstack(placed)

    def cut(self, row: int) -> tuple["Chunk", "Chunk | None"]:
        """The rows before `row` and those from it on (None: there are none)."""
        if row >= len(self):
            return self, None
        at = int(self.starts[row])
        return self._part(0, row, 0, max(at - 1, 0)), self._part(row, len(self), at, len(self.data))

    def _part(self, first: int, last: int, start: int, end: int) -> "Chunk":
        offset = None if self.offset is None else self.offset[first:last]
        starts, line = self.starts[first : last + 1] - start, self.line[first:last]
        return Chunk(self.data[start:end], starts, line, offset, self.plain)

    def after(self, before: "Chunk | None") -> "Chunk":
        """The rows of `before` and this chunk as one chunk."""
        if before is None:
            return self
        starts = np.concatenate([before.starts[:-1], self.starts + before.starts[-1]])
        line, data = np.concatenate([before.line, self.line]), before.data + b"\n" + self.data
        if self.offset is None or before.offset is None:
            return Chunk(data, starts, line, None)
        offset = np.concatenate([before.offset, self.offset])
        # false within a line longer than a batch
        next_to = bool(before.offset[0] + before.starts[-1] == self.offset[0])
        return Chunk(data, starts, line, offset, before.plain and self.plain and next_to)


def chunk_of(data: bytes, line: NDArray[np.int64]) -> Chunk:
    """Clean UTF-8 as a batch, with the number of each line."""
    return Chunk(data, line_starts(data)[0], line, None)


def split(data: bytes, polars_from: int = POLARS_BYTES) -> pl.Series:
    """The texts between the LF of `data` (UTF-8)."""
    if len(data) < polars_from or b"\r" in data or data.startswith(_PACKED):
        return pl.Series("", data.decode().split("\n"))
    text = pl.read_lines(io.BytesIO(data), name="").to_series()
    return text.extend(pl.Series([""])) if data.endswith(b"\n") else text
