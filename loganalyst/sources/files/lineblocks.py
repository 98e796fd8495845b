"""Framing that the line formats share: a text file as blocks of whole lines in UTF-8, in bounded memory."""

from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, utf_8_decode
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import BinaryIO

import numpy as np
import polars as pl

from loganalyst.model import table
from loganalyst.opening import opened, opened_text

_MAX_LATIN_PARTS = 50  # of one block; the rest of the block is then read as Latin-1
MAX_LINE_BYTES = 1 << 20  # a longer line is cut: no log row is that long


@dataclass(frozen=True)
class Block:
    """Whole lines. `line` is the number of the first (from 1), and `offset` its place in bytes (None in UTF-16 files).
    `recoded`: in the file they are Latin-1, one byte a character.
    """

    data: bytes
    line: int
    offset: int | None
    recoded: bool = False

    @cached_property
    def breaks(self) -> int:
        """The number of line breaks in `data`."""
        return count(self.data, b"\n")

    def at(self, position: int) -> int | None:
        """The file offset of a position in `data`."""
        if self.offset is None:
            return None
        return self.offset + (self.extent(self.data[:position]) if self.recoded else position)

    def extent(self, part: bytes) -> int:
        """How many bytes a part of `data` takes in the file."""
        return len(part.decode("utf-8", "replace")) if self.recoded else len(part)

    def begin(self, line: int) -> int:
        """The position in `data` where the line of this number begins."""
        nth = line - self.line
        return int(np.flatnonzero(np.frombuffer(self.data, np.uint8) == 10)[nth - 1]) + 1 if nth else 0

    def since(self, line: int) -> "Block":
        """The block from the line of this number on."""
        begin = self.begin(line)
        return replace(self, data=self.data[begin:], line=line, offset=self.at(begin))


def text(head: bytes) -> str:
    """The opening of a file as text: by its byte order mark, else UTF-8, else Latin-1 (which never fails)."""
    if head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return head[: len(head) & ~1].decode("utf-16", "replace")
    try:
        return head.removeprefix(BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        cut_character = error.end == len(head) or error.start >= len(head) - 3
        return head.removeprefix(BOM_UTF8).decode("utf-8" if cut_character else "latin-1", "ignore")


def place(head: bytes, content: str) -> int:
    """The offset behind `content`, with which `text(head)` begins."""
    if head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return 2 + len(content.encode("utf-16-le", "surrogatepass"))
    mark, coded = BOM_UTF8 if head.startswith(BOM_UTF8) else b"", content.encode()
    return len(mark) + len(coded if head.startswith(coded, len(mark)) else content)


def binary(head: bytes) -> bool:
    """Whether an opening is no text: it has a NUL byte, and no UTF-16 mark that would explain it."""
    return 0 in head and not head.startswith((BOM_UTF16_LE, BOM_UTF16_BE))


def blocks(path: Path, *, size: int = 4 << 20, offset: int = 0, line: int = 1, quoted: bool = True) -> Iterator[Block]:
    """Blocks of about `size` bytes that end with a line; UTF-16 and Latin-1 become UTF-8. Raises OSError.

    Lines that are not UTF-8 are read as Latin-1, in blocks of their own. The first block begins at `offset`, with line
    number `line`. In `quoted` text a line break between quotes ends no line.
    """
    with opened(path) as file:
        if file.read(2) in (BOM_UTF16_LE, BOM_UTF16_BE):
            yield from _wide_blocks(path, size)
            return
        while data := _lines(file, offset, size):
            while (
                quoted
                and count(data, b'"') % 2
                and len(data) < size + MAX_LINE_BYTES
                and (more := file.readline(MAX_LINE_BYTES))
            ):
                data += more
            mark = BOM_UTF8 if not offset and data.startswith(BOM_UTF8) else b""
            offset += len(mark)
            for part, recoded in _utf8(data[len(mark) :], quoted=quoted):
                block = Block(part.decode("latin-1").encode() if recoded else part, line, offset, recoded)
                yield block
                offset, line = offset + len(part), line + block.breaks


def _lines(file: BinaryIO, offset: int, size: int) -> bytes:
    """About `size` bytes from `offset` to the end of a line. The end is found first, so that no bytes are copied."""
    file.seek(offset + size)
    behind = len(file.readline(MAX_LINE_BYTES))
    file.seek(offset)
    data = file.read(size + behind)
    return data if behind else data + file.readline(MAX_LINE_BYTES)  # the file has grown by now


def count(data: bytes, byte: bytes) -> int:
    """How often a byte occurs in the data. For frequent bytes this is many times faster than bytes.count."""
    return int(np.count_nonzero(np.frombuffer(data, np.uint8) == ord(byte))) if byte in data else 0


def _wide_blocks(path: Path, size: int) -> Iterator[Block]:
    line = 1
    with opened_text(path, "utf-16") as file:
        while piece := file.read(size):
            data = (piece + file.readline(MAX_LINE_BYTES)).encode("utf-8", "replace")
            yield Block(data, line, None)
            line += count(data, b"\n")


def _utf8(data: bytes, *, quoted: bool) -> list[tuple[bytes, bool]]:
    """The data in parts of whole lines, each with whether it is Latin-1.

    If the data has UTF-8 too, only the other lines are Latin-1; after `_MAX_LATIN_PARTS` such parts, so is all the
    rest.
    """
    foreign = [] if data.isascii() else list(islice(_foreign(data, quoted), _MAX_LATIN_PARTS))
    if len(foreign) == _MAX_LATIN_PARTS:
        foreign[-1] = foreign[-1][0], len(data)
    bounds = [0, *chain.from_iterable(foreign), len(data)]
    parts = [(data[begin:end], i % 2 == 1) for i, (begin, end) in enumerate(pairwise(bounds)) if end > begin]
    if foreign and all(part.isascii() for part, recoded in parts if not recoded):
        return [(data, True)]
    return parts


def _foreign(data: bytes, quoted: bool) -> Iterator[tuple[int, int]]:
    """Begin and end of lines that are not UTF-8; in `quoted` text, with all lines between the same quotes."""
    view, at = memoryview(data), 0
    while at < len(data):
        try:
            utf_8_decode(view[at:], "strict", True)
        except UnicodeDecodeError as error:
            wrong = at + error.start
            begin, end = data.rfind(b"\n", at, wrong) + 1 or at, data.find(b"\n", wrong) + 1 or len(data)
            open_before = quoted and data.count(b'"', at, begin) % 2
            while open_before and begin > at:
                last, begin = begin, data.rfind(b"\n", at, begin - 1) + 1 or at
                open_before = (open_before + data.count(b'"', begin, last)) % 2
            still_open = quoted and data.count(b'"', begin, end) % 2
            while still_open and end < len(data):
                last, end = end, data.find(b"\n", end) + 1 or len(data)
                still_open = (still_open + data.count(b'"', last, end)) % 2
            yield begin, end
            at = end
        else:
            return


def gap(path: Path, why: str, offset: int | None = None, extent: int | None = None) -> pl.DataFrame:
    """One row of the `gaps` table; `extent` is in bytes, None where it is not known."""
    return table("gaps", {"file": path.name, "offset": offset, "bytes": extent, "why": why})
