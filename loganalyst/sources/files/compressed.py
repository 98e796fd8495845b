"""Compressed logs: gzip, zstd, xz and bzip2 are recognised by their first bytes, and unpacked for the log's reader.

The content goes to a temporary file (TMPDIR), never next to the log, under the log's name without the suffix.
"""

import bz2
import lzma
import re
import shutil
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import polars as pl

from loganalyst.model import UNREAD, table
from loganalyst.opening import opened, temporary
from loganalyst.sources.files.lineblocks import gap

SUFFIX = re.compile(r"\.(gz|gzip|zst|zstd|xz|bz2)$", re.IGNORECASE)
MAX_CONTENT_BYTES = 64 << 30  # and at most half of the free bytes of the disk
ALLOWED_BYTES = 256 << 20  # of content, at any ratio
MAX_RATIO, MAX_RATIO_BYTES = 300, 1 << 30  # times the file, up to this much content: a larger bomb would take minutes
MAX_LONG_RATIO = 30  # times the file, at any size: long logs shrink 5 to 20 times
PIECE_BYTES = 1 << 16
MAX_DECODER_BYTES = 128 << 20  # of memory: `xz -9` and `zstd --ultra` need it

_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\xfd7zXZ\0": "xz",
    b"BZh": "bzip2",
    **{bytes([n]) + b"\x2a\x4d\x18": "zstd" for n in range(0x50, 0x60)},  # skippable frames: pzstd, seekable zstd
}
_LONGEST_MAGIC = max(map(len, _MAGIC))


class _DamageError(Exception):
    """The bytes from file offset `offset` on cannot be unpacked."""

    def __init__(self, offset: int, why: str) -> None:
        super().__init__(why)
        self.offset, self.why = offset, why


def compression(head: bytes) -> str | None:
    """The compression of a file that begins with `head`; None if it is not compressed."""
    return next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)


@contextmanager
def unpacked(path: Path, head: bytes) -> Iterator[tuple[Path, pl.DataFrame]]:
    """The file to read in place of `path`, which begins with `head`, and the gap that says what could not be unpacked
    (no row: nothing). A file that is not compressed is read itself.

    All content before damage is kept; content above the size limits is not read. Raises OSError.
    """
    kind = compression(head)
    if kind is None:
        yield path, table("gaps")
        return
    with temporary() as folder:
        inner = Path(folder, SUFFIX.sub("", path.name) or path.name)
        why, offset = _unpack(path, kind, inner)
        size = path.stat().st_size
        yield inner, gap(path, why, offset, max(size - offset, 0)) if why else table("gaps")


def _unpack(path: Path, kind: str, inner: Path) -> tuple[str, int]:
    """Write the content of `path` to `inner`. The result says why some is missing (empty: none is), and from which
    offset of `path` on.
    """
    limit = _limit(path, inner)
    try:
        return _written(path, kind, inner, limit)
    except _DamageError as damage:
        fine = damage.offset
    try:  # again, with single bytes before the damage: a decoder that fails withholds its output for the last ones
        return _written(path, kind, inner, limit, fine)
    except _DamageError as damage:
        kept = inner.stat().st_size
        return f"{kind}: {damage.why}; {kept:,} bytes of content before it are read", damage.offset


def _limit(path: Path, inner: Path) -> int:
    return min(by_ratio(path.stat().st_size), MAX_CONTENT_BYTES, shutil.disk_usage(inner.parent).free // 2)


def by_ratio(size: int) -> int:
    """How many bytes of content are read from a compressed file of `size` bytes.

    >>> [by_ratio(mib << 20) >> 20 for mib in (0, 1, 2, 10, 100)]
    [256, 300, 600, 1024, 3000]
    """
    return max(ALLOWED_BYTES, min(MAX_RATIO * size, MAX_RATIO_BYTES), MAX_LONG_RATIO * size)


def _written(path: Path, kind: str, inner: Path, limit: int, fine: int | None = None) -> tuple[str, int]:
    with opened(path) as packed, inner.open("wb") as out:
        for piece in _pieces(packed, kind, fine):
            if out.tell() + len(piece) > limit:
                out.write(piece[: limit - out.tell()])
                _end_with_a_line(inner, out)
                why = f"{kind}: more than {limit:,} bytes of content, {UNREAD}; unpack the file to have all of it read"
                return why, packed.tell()
            out.write(piece)
    return "", 0


def _end_with_a_line(inner: Path, out: IO[bytes]) -> None:
    """Remove what follows the last line break: a line that we cut must not look like one that the program broke off."""
    out.flush()
    with inner.open("rb") as file:
        begin = max(out.tell() - PIECE_BYTES, 0)
        file.seek(begin)
        feed = file.read().rfind(b"\n")
    if feed >= 0:
        out.truncate(begin + feed + 1)


def _pieces(packed: IO[bytes], kind: str, fine: int | None) -> Iterator[bytes]:
    """The content of all members, one after another. From offset `fine` on, bytes are taken one by one."""

    def more() -> bytes:
        ahead = PIECE_BYTES if fine is None else fine - packed.tell()
        return packed.read(min(PIECE_BYTES, ahead) if ahead > 0 else 1)

    data, begin = more(), _decoder(kind)
    while data := data.lstrip(b"\0") or more():  # a gzip file may be padded with zeros
        if not data.strip(b"\0"):
            continue
        while len(data) < _LONGEST_MAGIC and (next_byte := more()):
            data += next_byte
        member, place = begin(), packed.tell() - len(data)
        if compression(data) != kind:
            raise _DamageError(place, f"what follows is no {kind}")
        while not member.eof:
            place = packed.tell() - len(data) if data else place
            try:
                piece = member.decompress(data, 1 << 20)
            except _errors(kind) as error:
                raise _DamageError(place, f"damaged ({error})") from error
            if piece:
                yield piece
            starved = member.needs_input and not member.eof
            data = more() if starved else b""
            if starved and not data:
                raise _DamageError(packed.tell(), "cut off")
        data = member.unused_data


def _errors(kind: str) -> tuple[type[Exception], ...]:
    if kind == "zstd":
        return (_zstd().ZstdError, ValueError, EOFError, MemoryError)
    return {"gzip": (zlib.error,), "xz": (lzma.LZMAError, MemoryError), "bzip2": (OSError, ValueError, EOFError)}[kind]


def _decoder(kind: str) -> Callable[[], Any]:
    """A function that begins a member: it returns an object with decompress(data, most), eof, needs_input and
    unused_data.
    """
    if kind == "zstd":
        zstd = _zstd()
        options = {zstd.DecompressionParameter.window_log_max: MAX_DECODER_BYTES.bit_length() - 1}
        return lambda: zstd.ZstdDecompressor(options=options)
    if kind == "xz":
        return lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MAX_DECODER_BYTES)
    return _Gzip if kind == "gzip" else bz2.BZ2Decompressor


def _zstd() -> Any:
    """The standard library's module from Python 3.14 on; before that its backport."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


class _Gzip:
    """A gzip member with the interface of the other decoders."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(31)
        self._full = False

    def decompress(self, data: bytes, most: int) -> bytes:
        piece = self._member.decompress(self._member.unconsumed_tail + data, most)
        self._full = len(piece) == most
        return piece

    @property
    def needs_input(self) -> bool:
        return not self._full and not self._member.unconsumed_tail

    @property
    def eof(self) -> bool:
        return self._member.eof

    @property
    def unused_data(self) -> bytes:
        return self._member.unused_data
