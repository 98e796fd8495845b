"""The bytes of a log in batches of whole lines, each byte copied once."""

import codecs
import os
from collections.abc import Iterator
from pathlib import Path

from loganalyst.opening import opened, opened_text
from loganalyst.sources.text.sizes import Sizes

UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def is_utf16(path: Path) -> bool:
    """Whether the file begins with a byte order mark of UTF-16."""
    with opened(path) as file:
        return file.read(2) in UTF16


def utf8(path: Path, size: int) -> Iterator[bytes]:
    """The text of a UTF-16 file, encoded as UTF-8."""
    with opened_text(path, "utf-16") as text:
        while part := text.read(size):
            yield part.encode("utf-8", "replace")


def whole_lines(blocks: Iterator[bytes], size: int) -> Iterator[tuple[bytes, bool]]:
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


def read_lines(file: int, offset: int, read: int, sizes: Sizes) -> Iterator[tuple[bytes, bool, int | None]]:
    """As `whole_lines`, for an open file from `offset` on, which was searched for line ends up to `read`.

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
