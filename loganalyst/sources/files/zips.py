"""Zip archives, read in bounded memory: the first file's name, and JSON a line of a file."""

import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from loganalyst.opening import whole
from loganalyst.sources.files.lineblocks import MAX_LINE_BYTES, text
from loganalyst.sources.tables.jsonshape import parse_json

MAX_BYTES = 256 << 20  # of the archive, and of a file in it
MAGIC = b"PK\x03\x04"
FAULTS = (zipfile.BadZipFile, ValueError, EOFError, NotImplementedError, RuntimeError, KeyError, zlib.error)


def first_name(head: bytes) -> str:
    """The name of the first file in an archive, from its first bytes; empty if it is none.

    >>> first_name(b"PK\\x03\\x04" + bytes(22) + bytes([5, 0, 0, 0]) + b"a.txt")
    'a.txt'
    """
    if not head.startswith(MAGIC) or len(head) < 30:
        return ""
    size = int.from_bytes(head[26:28], "little")
    return head[30 : 30 + size].decode("utf-8", "replace")


def records(path: Path, member: str) -> Iterator[Any]:
    """The JSON value of each line of a file in the archive; None for a line that is none. No values if the archive
    lacks the file. Raises the FAULTS for a damaged archive, and OSError.
    """
    with zipfile.ZipFile(BytesIO(_bounded(path))) as archive:
        if member not in archive.namelist():
            return
        if archive.getinfo(member).file_size > MAX_BYTES:
            raise ValueError(f"{member} is larger than {MAX_BYTES >> 20} MiB")
        with archive.open(member) as file:
            while line := file.readline(MAX_LINE_BYTES):
                if line.strip():
                    yield parse_json(text(line))


def _bounded(path: Path) -> bytes:
    if path.stat().st_size > MAX_BYTES:
        raise ValueError(f"larger than {MAX_BYTES >> 20} MiB")
    return whole(path)
