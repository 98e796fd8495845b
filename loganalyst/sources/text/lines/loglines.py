"""The lines of a job log: decoded, cleaned of terminal codes, as batches of rows."""

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from loganalyst.opening import opened_raw
from loganalyst.sources.text.lines import gluedbars
from loganalyst.sources.text.lines.chunks import MAX_ROW_BYTES, Chunk
from loganalyst.sources.text.lines.cleanbytes import clean, decoded
from loganalyst.sources.text.lines.filebatches import UTF16, is_utf16, read_lines, utf8, whole_lines
from loganalyst.sources.text.lines.lineplaces import line_starts, refreshes
from loganalyst.sources.text.sizes import SIZES, Sizes

LEFT_OUT = b" [...cut...] "  # replaces the middle; long enough that a cut row is still longer than MAX_ROW_BYTES


@dataclass(frozen=True)
class Place:
    """Where a batch begins: `offset` in bytes and `line` (from 1); `read` bytes of the file were read by then."""

    offset: int = 0
    line: int = 1
    read: int = 0


def batches(path: Path, start: Place = Place(), sizes: Sizes = SIZES) -> Iterator[tuple[Chunk, Place | None]]:
    """The rows of a log from `start` on, and after each batch the place where the next begins.

    The place is None where the file ended within a block: the next start is not known before the file has grown. Raises
    OSError.
    """
    if is_utf16(path):
        line = start.line
        for data, fed in whole_lines(utf8(path, sizes.batch), sizes.batch):
            for chunk, lines, _ in _chunks(data, line, None, sizes):
                after = line + lines - (not fed)
                yield from _pieces(chunk, None, sizes.rows)
            line = after
        return
    with opened_raw(path) as file:
        place = start
        for data, fed, read in read_lines(file.fileno(), start.offset, start.read, sizes):
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


def head(data: bytes) -> str:
    """The first bytes of a file as cleaned text."""
    text = data.decode("utf-16", "replace").encode("utf-8", "replace") if data[:2] in UTF16 else decoded(data)
    return clean(text).decode()


def _chunks(data: bytes, line: int, offset: int | None, sizes: Sizes) -> Iterator[tuple[Chunk, int, int]]:
    """The rows of whole lines, not many more than `sizes.rows` at once, with the lines and bytes passed by then, one LF
    each.
    """
    size = lines = 0
    while size <= len(data):
        starts, others = line_starts(data, size, sizes.rows, sizes.cache)
        end = size + int(starts[-1])
        part = data if end - size > len(data) else data[size : end - 1]
        at = None if offset is None else offset + size
        size, lines = end, lines + len(starts) - 1
        yield _chunk(part, starts, others, line + lines - len(starts) + 1, at, cache=sizes.cache), lines, size


def _chunk(
    data: bytes, starts: NDArray[np.int64], others: set[int], line: int, offset: int | None, *, cache: int
) -> Chunk:
    """The rows of the lines that begin at `starts`; `others` are control characters that occur."""
    body = decoded(data)
    number = np.arange(line, line + len(starts) - 1)
    place = None if offset is None else starts[:-1] + offset
    if others & {0x1B, 0x00, 0x08} or body.startswith(codecs.BOM_UTF8):
        body = clean(body)
    if body is data and 0x0D not in others:
        body = gluedbars.parted(data, starts)
    if (others & {0x0D, 0x08} or body is not data) and b"\r" in body:
        body, starts, at = refreshes(body, cache)
        number, place = number[at], None if place is None else place[at]
    elif body is not data:
        starts, _ = line_starts(body, cache=cache)
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
