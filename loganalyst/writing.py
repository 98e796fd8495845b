"""Files are written completely or not at all. Every file that the program writes for its user goes through here.

The bytes go to a temporary file in the same folder, which is synced and then renamed. A full disk, a crash or Ctrl-C
leaves the old file as it was.
"""

import errno
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from loganalyst.errors import LogAnalystError

__all__ = ["is_stream", "move", "sync", "write_new", "write_whole"]

SYNC_THREADS = 16
OWN_STREAMS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/self/fd/")  # even if they lead to a file


def write_whole(path: Path, content: str | bytes, allowed: str = "-o takes a file", mode: int | None = None) -> None:
    """Write `content` (text as UTF-8) to `path`, and replace a file there. A link stays a link: its target is written.

    The file gets the permissions `mode`; with None an old file keeps its own. A device or a FIFO is written directly.
    Raises LogAnalystError, with `allowed` in it, if the file cannot be written.

    >>> write_whole(Path("/dev/null"), "a report")
    """
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    try:
        if is_stream(path):
            _send(path, data)
        else:
            _replace(Path(os.path.realpath(path)), data, mode)
    except OSError as error:
        raise LogAnalystError(path, f"cannot be written ({error.strerror})", allowed) from None


def write_new(path: Path, content: str | bytes, allowed: str = "-o takes a file") -> None:
    """The same as `write_whole`, but never replaces a file. Raises FileExistsError, or LogAnalystError."""
    if is_stream(path):
        write_whole(path, content, allowed)
        return
    try:
        path.touch(exist_ok=False)  # of several processes that try, one succeeds
    except FileExistsError:
        raise
    except OSError as error:
        raise LogAnalystError(path, f"cannot be written ({error.strerror})", allowed) from None
    try:
        write_whole(path, content, allowed)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def is_stream(path: Path) -> bool:
    """Whether bytes for `path` go to a device, a FIFO, a socket or a stream of this process, instead of a file.

    >>> is_stream(Path("/dev/null"))
    True
    """
    if os.path.abspath(path).startswith(OWN_STREAMS):
        return True
    try:
        kind = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(kind) or stat.S_ISDIR(kind))


def _send(path: Path, data: bytes) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_APPEND), "wb") as out:
        out.write(data)


def _replace(file: Path, data: bytes, mode: int | None) -> None:
    old = _old(file)
    temporary = file.with_name(f".loganalyst-{os.urandom(8).hex()}")  # hidden, so that no walk reads it as a log
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        if old is not None:
            with suppress(OSError):  # only root may change the owner
                os.chown(temporary, old.st_uid, old.st_gid)
            mode = stat.S_IMODE(old.st_mode) if mode is None else mode
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(file)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    with suppress(OSError):  # the file is in its place; not every file system can sync a folder
        _sync(file.parent)


def _old(file: Path) -> os.stat_result | None:
    """The stat of the old file. Raises OSError for a folder, and for a read-only file, which a rename would replace."""
    try:
        old = file.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(old.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not os.access(file, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return old


def move(file: Path, to: Path) -> None:
    """Put a synced file into its place. The rename is durable after a `sync` of the folder. Raises OSError."""
    to.parent.mkdir(parents=True, exist_ok=True)
    file.replace(to)


def sync(paths: Iterable[Path]) -> None:
    """Sync the content of files, and the renames in folders (not on Windows). In parallel, for a disk syncs many files
    almost as fast as one. Raises OSError.
    """
    from concurrent.futures import ThreadPoolExecutor  # `loganalyst --help` needs none

    with ThreadPoolExecutor(SYNC_THREADS) as pool:
        list(pool.map(_sync, paths))


def _sync(path: Path) -> None:
    folder = path.is_dir()
    if folder and not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(path, os.O_RDONLY if folder else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
