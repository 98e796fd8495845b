"""The lines of a job log: decoded, cleaned of terminal codes, with line numbers and byte offsets."""

import codecs
import io
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.opening import opened, opened_raw, opened_text
from loganalyst.sources.text.lines import gluedbars
from loganalyst.sources.text.lines.prefixes import described
from loganalyst.sources.text.sizes import SIZES, Sizes

# A longer row loses its middle, which holds nothing that is read
MAX_ROW_BYTES = 1 << 16
LEFT_OUT = b" [...cut...] "  # replaces the middle; long enough that a cut row is still longer than MAX_ROW_BYTES
# Rows are cut out one by one if they are fewer than a quarter of the batch; else all texts are split
CUT_OUT_SHARE = 4
# From this size on polars splits lines faster than Python
POLARS_BYTES = 1 << 17
# A text may begin like a compressed file, as `x^2` does, and polars would unpack it: zlib, gzip, zstd
_PACKED = (b"x\x01", b"x^", b"x\x9c", b"x\xda", b"\x1f\x8b", b"(\xb5/\xfd")
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

# Terminal codes: `\x1b[31m` (colour), `\x1b]0;title\x07` (window title), `\x1b(B` (character set)
_ANSI = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")


@dataclass(frozen=True)
class Place:
    """Where a batch begins: `offset` in bytes and `line` (from 1); `read` bytes of the file were read by then."""

    offset: int = 0
    line: int = 1
    read: int = 0


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
        next_to = bool(
            before.offset[0] + before.starts[-1] == self.offset[0]
        )  # false within a line longer than a batch
        return Chunk(data, starts, line, offset, before.plain and self.plain and next_to)


def batches(path: Path, start: Place = Place(), sizes: Sizes = SIZES) -> Iterator[tuple[Chunk, Place | None]]:
    """The rows of a log from `start` on, and after each batch the place where the next begins.

    The place is None where the file ended within a block: the next start is not known before the file has grown. Raises
    OSError.
    """
    if _is_utf16(path):
        line = start.line
        for data, fed in _whole_lines(_utf8(path, sizes.batch), sizes.batch):
            for chunk, lines, _ in _chunks(data, line, None, sizes):
                after = line + lines - (not fed)
                yield from _pieces(chunk, None, sizes.rows)
            line = after
        return
    with opened_raw(path) as file:
        place = start
        for data, fed, read in _read_lines(file.fileno(), start.offset, start.read, sizes):
            for chunk, lines, size in _chunks(data, place.line, place.offset, sizes):
                behind = Place(place.offset + size - (not fed), place.line + lines - (not fed), read or 0)
                yield from _pieces(chunk, behind if read and size > len(data) else None, sizes.rows)
            place = behind


def _pieces(chunk: Chunk, place: Place | None, most: int) -> Iterator[tuple[Chunk, Place | None]]:
    """The chunk, at most `most` rows at a time; `place` belongs to the last piece."""
    remaining: Chunk | None = chunk
    while remaining is not None:
        piece, remaining = remaining.cut(most)
        yield piece, place if remaining is None else None


def chunk_of(data: bytes, line: NDArray[np.int64]) -> Chunk:
    """Clean UTF-8 as a batch, with the number of each line."""
    return Chunk(data, _starts(data)[0], line, None)


def head(data: bytes) -> str:
    """The first bytes of a file as cleaned text."""
    text = data.decode("utf-16", "replace").encode("utf-8", "replace") if data[:2] in UTF16 else _decoded(data)
    return _clean(text).decode()


def split(data: bytes, polars_from: int = POLARS_BYTES) -> pl.Series:
    """The texts between the LF of `data` (UTF-8)."""
    if len(data) < polars_from or b"\r" in data or data.startswith(_PACKED):
        return pl.Series("", data.decode().split("\n"))
    text = pl.read_lines(io.BytesIO(data), name="").to_series()
    return text.extend(pl.Series([""])) if data.endswith(b"\n") else text


def _is_utf16(path: Path) -> bool:
    with opened(path) as file:
        return file.read(2) in UTF16


def _utf8(path: Path, size: int) -> Iterator[bytes]:
    """The text of a UTF-16 file, encoded as UTF-8."""
    with opened_text(path, "utf-16") as text:
        while part := text.read(size):
            yield part.encode("utf-8", "replace")


def _whole_lines(blocks: Iterator[bytes], size: int) -> Iterator[tuple[bytes, bool]]:
    """Blocks of whole lines: the bytes without the last LF, and whether there was an LF.

    A line longer than `size` is cut after a refresh (CR), or anywhere if it has none.
    """
    remaining = b""
    for block in blocks:
        feed = block.rfind(b"\n")
        if feed >= 0:
            yield remaining + block[:feed], True
            remaining = block[feed + 1 :]
        elif len(remaining := remaining + block) >= size:
            cut = _refreshed(remaining)
            yield remaining[:cut], False
            remaining = remaining[cut:]
    if remaining:
        yield remaining, False


def _read_lines(file: int, offset: int, read: int, sizes: Sizes) -> Iterator[tuple[bytes, bool, int | None]]:
    """As `_whole_lines`, for an open file from `offset` on, which was searched for line ends up to `read`.

    Each block also has the bytes read by then (None where the file ended within a batch). Each byte is copied once.
    """
    while (size := min(sizes.batch, os.fstat(file).st_size - read)) > 0:
        feed, read = _last_feed(file, read, read + size, sizes.cache), read + size
        if feed is None and read - offset < sizes.batch:
            continue
        data = os.pread(file, (read if feed is None else feed) - offset, offset)
        if feed is None:
            data = data[: _refreshed(data)]
        yield data, feed is not None, read if size == sizes.batch else None
        offset += len(data) + (feed is not None)
    if offset < read:
        yield os.pread(file, read - offset, offset), False, None


def _last_feed(file: int, start: int, end: int, cache: int) -> int | None:
    """The place of the last LF between two places of a file."""
    for at in (max(end - cache, start), start):
        found = os.pread(file, end - at, at).rfind(b"\n")
        if found >= 0:
            return at + found
        end = at
    return None


def _refreshed(data: bytes) -> int:
    """The place behind the last refresh (the end where there is none)."""
    return data.rfind(b"\r") + 1 or len(data)


def _chunks(data: bytes, line: int, offset: int | None, sizes: Sizes) -> Iterator[tuple[Chunk, int, int]]:
    """The rows of whole lines, not many more than `sizes.rows` at once, with the lines and bytes passed by then, one LF
    each.
    """
    size = lines = 0
    while size <= len(data):
        starts, others = _starts(data, size, sizes.rows, sizes.cache)
        end = size + int(starts[-1])
        part = data if end - size > len(data) else data[size : end - 1]
        at = None if offset is None else offset + size
        size, lines = end, lines + len(starts) - 1
        yield _chunk(part, starts, others, line + lines - len(starts) + 1, at, cache=sizes.cache), lines, size


def _chunk(
    data: bytes, starts: NDArray[np.int64], others: set[int], line: int, offset: int | None, *, cache: int
) -> Chunk:
    """The rows of the lines that begin at `starts`; `others` are control characters that occur."""
    body = _decoded(data)
    number = np.arange(line, line + len(starts) - 1)
    place = None if offset is None else starts[:-1] + offset
    if others & {0x1B, 0x00, 0x08} or body.startswith(codecs.BOM_UTF8):
        body = _clean(body)
    if body is data and 0x0D not in others:
        body = gluedbars.parted(data, starts)
    if (others & {0x0D, 0x08} or body is not data) and b"\r" in body:
        body, starts, at = _refreshes(body, cache)
        number, place = number[at], None if place is None else place[at]
    elif body is not data:
        starts, _ = _starts(body, cache=cache)
    if (np.diff(starts) - 1 > MAX_ROW_BYTES).any():
        body, starts = _shortened(body, starts)
    return Chunk(body, starts, number, place, body is data)


def _shortened(data: bytes, starts: NDArray[np.int64]) -> tuple[bytes, NDArray[np.int64]]:
    """The rows without the middle of those above MAX_ROW_BYTES, and where they begin then."""
    sizes = np.diff(starts) - 1
    parts, at = list[bytes](), 0
    for row in np.flatnonzero(sizes > MAX_ROW_BYTES).tolist():
        head, tail = int(starts[row]) + MAX_ROW_BYTES // 2, int(starts[row + 1]) - 1 - MAX_ROW_BYTES // 2
        while data[head] & 0xC0 == 0x80:  # within a character of several bytes
            head -= 1
        while data[tail] & 0xC0 == 0x80:
            tail += 1
        parts += [data[at:head], LEFT_OUT]
        sizes[row] -= tail - head - len(LEFT_OUT)
        at = tail
    return b"".join([*parts, data[at:]]), np.concatenate([[0], np.cumsum(sizes + 1)])


def _starts(
    data: bytes, first: int = 0, most: int | None = None, cache: int = SIZES.cache
) -> tuple[NDArray[np.int64], set[int]]:
    """Where lines begin from `first` on, counted from there, and one more where the next would. Also the control
    characters that occur, without LF. Stops behind `most` lines or more.
    """
    text, found, others = np.frombuffer(data, np.uint8), [np.zeros(1, np.int64)], set[int]()
    control = np.empty(min(cache, len(data)), bool)  # reused: new memory costs more than the comparison
    lines = 0
    for k in range(first, len(data), cache):
        part = text[k : k + cache]
        at = _places(np.less(part, 0x20, out=control[: len(part)]))
        feed = part[at] == ord("\n")
        if not feed.all():
            others.update(np.unique(part[at[~feed]]).tolist())
            at = at[feed]
        found.append(at + (k + 1 - first))
        lines += len(at)
        if most is not None and lines >= most:
            return np.concatenate(found), others
    return np.concatenate([*found, [len(data) + 1 - first]]), others


def _places(mask: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The positions where `mask` is true. It tests 32 at a time: faster where few are true, as at the ends of lines."""
    words = np.zeros(-(-len(mask) // 32), "<u4")
    words.view(np.uint8)[: -(-len(mask) // 8)] = np.packbits(mask, bitorder="little")
    at = np.flatnonzero(words != 0)
    bits, found = words[at], []
    for _ in range(2):  # the lowest bit of each word; then the second bit of words with two
        below = bits - 1
        found.append(at * 32 + np.bitwise_count(~bits & below))
        bits &= below
        more = np.flatnonzero(bits != 0)
        if not len(more):
            return np.sort(np.concatenate(found), kind="stable")
        at, bits = at[more], bits[more]
    return np.flatnonzero(mask)


def _refreshes(data: bytes, cache: int) -> tuple[bytes, NDArray[np.int64], NDArray[np.int64]]:
    """Each state that a line was overwritten with, as a row of its own.

    Empty states are dropped; a line with only empty ones keeps one. Also returned: where the rows begin (and one more),
    and the position of the line that each is a state of.
    """
    breaks, feed = _breaks(data, cache)
    at = np.concatenate([[0], np.cumsum(feed)])
    starts = np.concatenate([[0], breaks + 1, [len(data) + 1]])
    filled = np.diff(starts) > 1
    has_text = np.zeros(at[-1] + 1, bool)
    has_text[at[filled]] = True
    kept = filled | (~has_text[at] & (np.diff(at, prepend=-1) > 0))
    gone = np.flatnonzero(~kept)
    # a dropped state goes with the break before it; at the head of the data with the one after it
    data = _without(data, breaks[gone - (gone > np.argmax(kept))], cache).replace(b"\r", b"\n")
    left = np.append(kept, True)
    return data, (starts - np.cumsum(~left))[left], at[kept]


def _breaks(data: bytes, cache: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Where lines and their states end, and whether with LF."""
    text, found = np.frombuffer(data, np.uint8), []
    for k in range(0, len(data), cache):
        part = text[k : k + cache]
        found.append(_places((part == ord("\n")) | (part == ord("\r"))) + k)
    breaks = np.concatenate(found)
    return breaks, text[breaks] == ord("\n")


def _without(data: bytes, places: NDArray[np.int64], cache: int) -> bytes:
    """`data` without the bytes at some places, which are in order."""
    if not len(places):
        return data
    text, begins = np.frombuffer(data, np.uint8), range(0, len(data), cache)
    bounds = pairwise([*np.searchsorted(places, begins).tolist(), len(places)])
    cuts = zip(begins, bounds, strict=True)
    return b"".join(np.delete(text[k : k + cache], places[a:b] - k).tobytes() for k, (a, b) in cuts)


def _decoded(data: bytes) -> bytes:
    """The lines as UTF-8; a line that is not valid UTF-8 is read as Latin-1."""
    if np.frombuffer(data, np.int8).min(initial=0) >= 0:  # ASCII; several times faster than `isascii`
        return data
    try:
        pl.Series([data]).cast(pl.String)  # many times faster than `decode` for text that is not ASCII
    except pl.exceptions.ComputeError:
        return b"\n".join(_line(part) for part in data.split(b"\n"))
    return data


def _line(part: bytes) -> bytes:
    """One line as UTF-8."""
    try:
        part.decode()
    except UnicodeDecodeError:
        return part.decode("latin-1").encode()
    return part


def _clean(data: bytes) -> bytes:
    """`data` without terminal codes, NUL and byte order mark. Backspaces become CR: they are refreshes too."""
    data = _ANSI.sub(b"", data) if b"\x1b" in data else data
    data = data.translate(None, b"\x00") if b"\x00" in data else data
    return data.replace(codecs.BOM_UTF8, b"").replace(b"\x08", b"\r")
