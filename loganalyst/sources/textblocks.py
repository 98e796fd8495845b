"""Framing shared by the line formats: a text file as blocks of whole lines in UTF-8, in bounded memory."""

from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from loganalyst.model import table

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

    def at(self, position: int) -> int | None:
        """The file offset of a position in `data`."""
        return None if self.offset is None else self.offset + self.extent(self.data[:position])

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

    The first begins at `offset`, with the number `line`. Where text is `quoted`, a line break between quotes ends no
    line.
    """
    with path.open("rb") as file:
        if file.read(2) in (BOM_UTF16_LE, BOM_UTF16_BE):
            yield from _wide_blocks(path, size)
            return
        file.seek(offset)
        while data := file.read(size):
            data += file.readline(LONGEST)
            while quoted and count(data, b'"') % 2 and len(data) < size + LONGEST and (more := file.readline(LONGEST)):
                data += more
            mark = BOM_UTF8 if not offset and data.startswith(BOM_UTF8) else b""
            content, recoded = _utf8(data[len(mark) :])
            yield Block(content, line, offset + len(mark), recoded)
            offset, line = offset + len(data), line + count(data, b"\n")


def count(data: bytes, byte: bytes) -> int:
    """How often a byte stands in the data (many times faster than bytes.count where it does often)."""
    return int(np.count_nonzero(np.frombuffer(data, np.uint8) == ord(byte))) if byte in data else 0


def _wide_blocks(path: Path, size: int) -> Iterator[Block]:
    line = 1
    with path.open(encoding="utf-16", errors="replace", newline="") as file:
        while piece := file.read(size):
            data = (piece + file.readline(LONGEST)).encode("utf-8", "replace")
            yield Block(data, line, None)
            line += count(data, b"\n")


def _utf8(data: bytes) -> tuple[bytes, bool]:
    """The data in UTF-8, and whether it was Latin-1."""
    if data.isascii():
        return data, False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1").encode("utf-8"), True
    return data, False


def gap(path: Path, why: str, offset: int | None = None, extent: int | None = None) -> pl.DataFrame:
    """One row of the `gaps` table; `extent` in bytes, None where it is not known."""
    return table("gaps", {"file": path.name, "offset": offset, "bytes": extent, "why": why})
