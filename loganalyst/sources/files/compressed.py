"""Compressed logs: gzip, zstd, xz and bzip2, told by their first bytes and unpacked for the reader that knows the log.

What is unpacked goes to a temporary file (TMPDIR), never beside the log, under the log's name without the suffix.
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
LARGEST = 64 << 30  # bytes of content; at most half of what the disk has free
ALWAYS = 256 << 20  # bytes of content that any ratio may give
RATIO, OFTEN = 300, 1 << 30  # times the file, up to so many bytes; behind them a bomb would take minutes
LONG_RATIO = 30  # times the file, however large: long logs shrink 5 to 20 times
PIECE = 1 << 16
MEMORY = 128 << 20  # of a decoder: what `xz -9` and `zstd --ultra` need

_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\xfd7zXZ\0": "xz",
    b"BZh": "bzip2",
    **{bytes([n]) + b"\x2a\x4d\x18": "zstd" for n in range(0x50, 0x60)},  # a frame to skip: pzstd's, seekable zstd's
}
_LONGEST_MAGIC = max(map(len, _MAGIC))


class _DamageError(Exception):
    """The bytes from file offset `offset` on cannot be unpacked."""

    def __init__(self, offset: int, why: str) -> None:
        super().__init__(why)
        self.offset, self.why = offset, why


def compression(head: bytes) -> str | None:
    """How a file that begins with `head` is compressed, None where it is not."""
    return next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)


@contextmanager
def unpacked(path: Path, head: bytes) -> Iterator[tuple[Path, pl.DataFrame]]:
    """The file to read in place of `path`, which begins with `head`, and the gap that says what of it could not be
    unpacked (no row where all was). A file that is not compressed is itself.

    All content before the damage is kept; content past the size limits is not read. Raises OSError.
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
    """Write the content of `path` to `inner`; why that is not all of it (empty: it is), and from which offset on."""
    limit = _limit(path, inner)
    try:
        return _written(path, kind, inner, limit)
    except _DamageError as damage:
        fine = damage.offset
    try:  # once more: a decoder that fails keeps back what it made of the last bytes before the damage
        return _written(path, kind, inner, limit, fine)
    except _DamageError as damage:
        kept = inner.stat().st_size
        return f"{kind}: {damage.why}; {kept:,} bytes of content before it are read", damage.offset


def _limit(path: Path, inner: Path) -> int:
    return min(by_ratio(path.stat().st_size), LARGEST, shutil.disk_usage(inner.parent).free // 2)


def by_ratio(size: int) -> int:
    """How many bytes of content are read of a compressed file of `size` bytes.

    >>> [by_ratio(mib << 20) >> 20 for mib in (0, 1, 2, 10, 100)]
    [256, 300, 600, 1024, 3000]
    """
    return max(ALWAYS, min(RATIO * size, OFTEN), LONG_RATIO * size)


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
    """Leave out what stands behind the last line break: a line that we cut is none that broke off."""
    out.flush()
    with inner.open("rb") as file:
        begin = max(out.tell() - PIECE, 0)
        file.seek(begin)
        feed = file.read().rfind(b"\n")
    if feed >= 0:
        out.truncate(begin + feed + 1)


def _pieces(packed: IO[bytes], kind: str, fine: int | None) -> Iterator[bytes]:
    """The content of all members, one after another. From offset `fine` on, bytes are taken one by one."""

    def more() -> bytes:
        ahead = PIECE if fine is None else fine - packed.tell()
        return packed.read(min(PIECE, ahead) if ahead > 0 else 1)

    data, begin = more(), _decoder(kind)
    while data := data.lstrip(b"\0") or more():  # a gzip file may be filled up with zeros
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
    """What begins a member: an object with decompress(data, most), eof, needs_input and unused_data."""
    if kind == "zstd":
        zstd = _zstd()
        options = {zstd.DecompressionParameter.window_log_max: MEMORY.bit_length() - 1}
        return lambda: zstd.ZstdDecompressor(options=options)
    if kind == "xz":
        return lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MEMORY)
    return _Gzip if kind == "gzip" else bz2.BZ2Decompressor


def _zstd() -> Any:
    """The standard library's module, of 3.14 on; before that its backport."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


class _Gzip:
    """A gzip member, as the other decoders are."""

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
