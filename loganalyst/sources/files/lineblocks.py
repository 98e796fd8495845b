"""Framing shared by the line formats: a text file as blocks of whole lines in UTF-8, in bounded memory."""

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

_MOST_PARTS = 50  # of one block that are Latin-1 for themselves; then the rest of the block is
LONGEST = 1 << 20  # bytes of one line; a longer one is cut (no log row is)


@dataclass(frozen=True)
class Block:
    """Whole lines. `line` numbers the first (from 1); `offset` is its place in bytes, None in UTF-16 files; `recoded`
    where the file has Latin-1 for them, a byte a character.
    """

    data: bytes
    line: int
    offset: int | None
    recoded: bool = False

    @cached_property
    def breaks(self) -> int:
        """How many line breaks stand in `data`."""
        return count(self.data, b"\n")

    def at(self, position: int) -> int | None:
        """The file offset of a position in `data`."""
        if self.offset is None:
            return None
        return self.offset + (self.extent(self.data[:position]) if self.recoded else position)

    def extent(self, part: bytes) -> int:
        """How many bytes of the file a part of `data` was."""
        return len(part.decode("utf-8", "replace")) if self.recoded else len(part)

    def begin(self, line: int) -> int:
        """Where in `data` a line begins, by its number."""
        nth = line - self.line
        return int(np.flatnonzero(np.frombuffer(self.data, np.uint8) == 10)[nth - 1]) + 1 if nth else 0

    def since(self, line: int) -> "Block":
        """The block from one of its lines on."""
        begin = self.begin(line)
        return replace(self, data=self.data[begin:], line=line, offset=self.at(begin))


def text(head: bytes) -> str:
    """The opening of a file as text: byte order mark honoured, UTF-8, else Latin-1 (which never fails)."""
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
    """Whether an opening is no text: a NUL byte, and no UTF-16 mark that would explain it."""
    return 0 in head and not head.startswith((BOM_UTF16_LE, BOM_UTF16_BE))


def blocks(path: Path, *, size: int = 4 << 20, offset: int = 0, line: int = 1, quoted: bool = True) -> Iterator[Block]:
    """Blocks of about `size` bytes that end with a line; UTF-16 and Latin-1 become UTF-8. OSError passes.

    Lines that are no UTF-8 are taken as Latin-1, in blocks of their own.
    The first begins at `offset`, with the number `line`. Where text is `quoted`, a line break between quotes ends no
    line.
    """
    with opened(path) as file:
        if file.read(2) in (BOM_UTF16_LE, BOM_UTF16_BE):
            yield from _wide_blocks(path, size)
            return
        while data := _lines(file, offset, size):
            while quoted and count(data, b'"') % 2 and len(data) < size + LONGEST and (more := file.readline(LONGEST)):
                data += more
            mark = BOM_UTF8 if not offset and data.startswith(BOM_UTF8) else b""
            offset += len(mark)
            for part, recoded in _utf8(data[len(mark) :], quoted=quoted):
                block = Block(part.decode("latin-1").encode() if recoded else part, line, offset, recoded)
                yield block
                offset, line = offset + len(part), line + block.breaks


def _lines(file: BinaryIO, offset: int, size: int) -> bytes:
    """About `size` bytes from `offset` to the end of a line; where that is, is looked up first: they are not copied."""
    file.seek(offset + size)
    behind = len(file.readline(LONGEST))
    file.seek(offset)
    data = file.read(size + behind)
    return data if behind else data + file.readline(LONGEST)  # the file has grown by now


def count(data: bytes, byte: bytes) -> int:
    """How often a byte stands in the data (many times faster than bytes.count where it does often)."""
    return int(np.count_nonzero(np.frombuffer(data, np.uint8) == ord(byte))) if byte in data else 0


def _wide_blocks(path: Path, size: int) -> Iterator[Block]:
    line = 1
    with opened_text(path, "utf-16") as file:
        while piece := file.read(size):
            data = (piece + file.readline(LONGEST)).encode("utf-8", "replace")
            yield Block(data, line, None)
            line += count(data, b"\n")


def _utf8(data: bytes, *, quoted: bool) -> list[tuple[bytes, bool]]:
    """The data in parts of whole lines, and whether each is Latin-1.

    Where UTF-8 stands too, only the lines that are none are Latin-1; after `_MOST_PARTS` such parts all the rest is.
    """
    foreign = [] if data.isascii() else list(islice(_foreign(data, quoted), _MOST_PARTS))
    if len(foreign) == _MOST_PARTS:
        foreign[-1] = foreign[-1][0], len(data)
    bounds = [0, *chain.from_iterable(foreign), len(data)]
    parts = [(data[begin:end], i % 2 == 1) for i, (begin, end) in enumerate(pairwise(bounds)) if end > begin]
    if foreign and all(part.isascii() for part, recoded in parts if not recoded):
        return [(data, True)]
    return parts


def _foreign(data: bytes, quoted: bool) -> Iterator[tuple[int, int]]:
    """Where the lines begin and end that are no UTF-8; where text is `quoted`, with all lines between its quotes."""
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
    """One row of the `gaps` table; `extent` in bytes, None where it is not known."""
    return table("gaps", {"file": path.name, "offset": offset, "bytes": extent, "why": why})
