"""Files that we made ourselves, to start faster: used only if whole, made from the same sources, and surely ours."""

import os
import stat
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from loganalyst.errors import LogAnalystError
from loganalyst.writing import write_whole

MAX_BYTES = 50_000_000
HASH_BYTES = 16
_MAGIC = b"loganalyst catalogue 1\n"
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def sealed(content: bytes, stamp: bytes) -> bytes:
    """The bytes of such a file: magic, stamp of its sources (HASH_BYTES), checksum, content."""
    return b"".join((_MAGIC, stamp, _checksum(content), content))


def keep_sealed(file: Path, content: bytes, stamp: bytes) -> None:
    """Write such a file for this user alone. Where it cannot be written, nothing happens."""
    with suppress(LogAnalystError, OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(file, sealed(content, stamp), mode=0o600)


def unsealed(file: Path, stamp: bytes, *, trusted: bool) -> memoryview | None:
    """The content of a file. None if it is absent, damaged, made from other sources, or may be another user's."""
    with suppress(OSError), open(os.open(file, _FLAGS), "rb") as opened:
        state = os.fstat(opened.fileno())
        if not stat.S_ISREG(state.st_mode) or state.st_size > MAX_BYTES or not (trusted or _is_ours(state)):
            return None
        data = memoryview(opened.read(MAX_BYTES))
        head = len(_MAGIC) + 2 * HASH_BYTES
        content = data[head:]
        return content if data[:head] == _MAGIC + stamp + _checksum(content) else None
    return None


def _is_ours(state: os.stat_result) -> bool:
    """Whether only this user can have written the file."""
    return not hasattr(os, "geteuid") or (state.st_uid == os.geteuid() and not state.st_mode & 0o022)


def _checksum(content: bytes | memoryview) -> bytes:
    return blake2b(content, digest_size=HASH_BYTES).digest()
