"""The only place that opens files of a run. A link that leads out of what the user named is not followed.

Code that reads a run sets the bounds of its files by `within`. Each file is opened first and checked afterwards by its
descriptor, so that no link can take its place in between. Outside of `within` every regular file is opened.
"""

import errno
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from io import BufferedReader, FileIO, TextIOWrapper
from pathlib import Path

import msgspec

LEADS_OUT = "a link that leads out of what was named"
NOT_REGULAR = "is no regular file"
_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)  # do not wait for a pipe's writer
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


class OutsideError(OSError):
    """A link leads out of the bounds of the run."""

    def __init__(self, path: object) -> None:
        super().__init__(errno.EXDEV, LEADS_OUT, str(path))

    def __reduce__(self) -> tuple[type, tuple[str]]:
        return type(self), (self.filename,)


class Bounds(msgspec.Struct, frozen=True):
    """Real paths of folders, each with a separator at its end, and of single files."""

    folders: tuple[str, ...] = ()
    files: frozenset[str] = frozenset()

    def hold(self, real: str) -> bool:
        """Whether the file at this real path may be read."""
        return real.startswith(self.folders) or real in self.files


_bounds: ContextVar[Bounds | None] = ContextVar("bounds", default=None)
_temporary: set[str] = set()  # our own folders, for unpacked logs


def bounds(folders: Iterable[str | Path], files: Iterable[str | Path] = ()) -> Bounds:
    """Bounds of these `folders` (links are resolved) and `files`, which may not be links themselves."""
    inside = tuple(dict.fromkeys(os.path.join(os.path.realpath(folder), "") for folder in folders))
    return Bounds(inside, frozenset(map(unlinked, files)))


def unlinked(file: str | Path) -> str:
    """The path of a file that is no link itself: the real path of its folder, and its name."""
    folder, name = os.path.split(file)
    return os.path.join(os.path.realpath(folder), name)


@contextmanager
def within(allowed: Bounds | None) -> Iterator[None]:
    """Inside, files are opened within these bounds only (None: all are)."""
    before = _bounds.set(allowed)
    try:
        yield
    finally:
        _bounds.reset(before)


def here() -> Bounds | None:
    """The bounds that hold here."""
    return _bounds.get()


def opened(path: str | Path) -> BufferedReader:
    """The file, opened for reading. Raises OSError if it cannot be opened or is no regular file, and OutsideError if a
    link leads out.

    >>> with opened(__file__) as file:
    ...     file.read(3)
    b'\"\"\"'
    """
    return open(path, "rb", opener=lambda name, _: descriptor(name))


def opened_raw(path: str | Path) -> FileIO:
    """The same as `opened`, without a buffer."""
    return open(path, "rb", buffering=0, opener=lambda name, _: descriptor(name))


def opened_text(path: str | Path, encoding: str) -> TextIOWrapper:
    """The same as `opened`, decoded. Invalid bytes become U+FFFD, and line ends are kept."""
    return TextIOWrapper(opened(path), encoding=encoding, errors="replace", newline="")


def whole(path: str | Path) -> bytes:
    """All bytes of a file. Errors as for `opened`."""
    with opened(path) as file:
        return file.read()


def checked(path: Path) -> Path:
    """The path, for libraries that open files themselves. Errors as for `opened`."""
    os.close(descriptor(path))
    return path


def sibling(file: Path, name: str) -> Path | None:
    """The file `name` (a path) relative to the folder of `file`. None if it does not exist, or a link leads out of that
    folder.
    """
    found = file.parent / name
    inside = os.path.join(os.path.realpath(file.parent), "")
    return found if os.path.isfile(found) and os.path.realpath(found).startswith(inside) else None


def descriptor(path: str | Path) -> int:
    """The descriptor of the opened file; the caller closes it. Errors as for `opened`."""
    allowed = _bounds.get()
    file = os.open(path, _FLAGS) if allowed is None else _guarded(path, allowed)
    try:
        if not stat.S_ISREG(mode := os.fstat(file).st_mode):
            code = errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
            raise OSError(code, os.strerror(code) if code == errno.EISDIR else NOT_REGULAR, str(path))
        if allowed is not None and not _held(_real(file, path), allowed):
            raise OutsideError(path)
    except BaseException:
        os.close(file)
        raise
    return file


def _guarded(path: str | Path, allowed: Bounds) -> int:
    """The opened file. A link that leads out is not even opened."""
    try:
        return os.open(path, _FLAGS | _NO_LINK)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.EMLINK):  # FreeBSD reports a link as EMLINK
            raise
    if not _held(real := os.path.realpath(path), allowed):
        raise OutsideError(path)
    return os.open(real, _FLAGS | _NO_LINK)


def _held(real: str, allowed: Bounds) -> bool:
    return allowed.hold(real) or real.startswith(tuple(_temporary))


def _real(file: int, path: str | Path) -> str:
    """The real path of an open file, from the system if it says."""
    try:
        real = os.readlink(f"/proc/self/fd/{file}")
    except OSError:
        return os.path.realpath(path)
    return real.removesuffix(" (deleted)") if real.startswith(os.sep) else os.path.realpath(path)


@contextmanager
def temporary() -> Iterator[Path]:
    """A temporary folder of ours, whose files may be read within any bounds. It is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="loganalyst-") as folder:
        inside = os.path.join(os.path.realpath(folder), "")
        _temporary.add(inside)
        try:
            yield Path(folder)
        finally:
            _temporary.discard(inside)
