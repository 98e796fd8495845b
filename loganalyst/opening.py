"""The one place that opens files of a run: what a link puts outside of what the user named is not read.

Whoever reads a run says in `within` where its files may lie. Each file is opened first and looked up afterwards, by
its descriptor: nobody can put a link in its place in between. Outside of `within` every regular file is opened.
"""

import errno
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from io import BufferedReader, FileIO, TextIOWrapper
from pathlib import Path

LEADS_OUT = "a link that leads out of what was named"
NOT_REGULAR = "is no regular file"
_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)  # a pipe would wait for its writer
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


class OutsideError(OSError):
    """A link leads out of where the files of the run may lie."""

    def __init__(self, path: object) -> None:
        super().__init__(errno.EXDEV, LEADS_OUT, str(path))

    def __reduce__(self) -> tuple[type, tuple[str]]:
        return type(self), (self.filename,)


@dataclass(frozen=True)
class Bounds:
    """Real paths of folders, each with a separator at its end, and of single files."""

    folders: tuple[str, ...] = ()
    files: frozenset[str] = frozenset()

    def hold(self, real: str) -> bool:
        """Whether the file at this real path may be read."""
        return real.startswith(self.folders) or real in self.files


_bounds: ContextVar[Bounds | None] = ContextVar("bounds", default=None)
_temporary: set[str] = set()  # folders of ours, where packed logs are unpacked


def bounds(folders: Iterable[str | Path], files: Iterable[str | Path] = ()) -> Bounds:
    """Bounds of these `folders` (what they are links to counts) and `files`, which may not be links themselves."""
    inside = tuple(dict.fromkeys(os.path.join(os.path.realpath(folder), "") for folder in folders))
    return Bounds(inside, frozenset(map(unlinked, files)))


def unlinked(file: str | Path) -> str:
    """Where a file lies if it is no link itself: the real path of its folder, and its name."""
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
    """The file for reading. Raises OSError where it cannot be opened or is no regular file, OutsideError where a link
    leads out.

    >>> with opened(__file__) as file:
    ...     file.read(3)
    b'\"\"\"'
    """
    return open(path, "rb", opener=lambda name, _: descriptor(name))


def opened_raw(path: str | Path) -> FileIO:
    """As `opened`, without a buffer."""
    return open(path, "rb", buffering=0, opener=lambda name, _: descriptor(name))


def opened_text(path: str | Path, encoding: str) -> TextIOWrapper:
    """As `opened`, decoded; what is no text becomes U+FFFD, and line ends stay as they are."""
    return TextIOWrapper(opened(path), encoding=encoding, errors="replace", newline="")


def whole(path: str | Path) -> bytes:
    """All bytes of a file; errors as of `opened`."""
    with opened(path) as file:
        return file.read()


def checked(path: Path) -> Path:
    """The path, for libraries that open files by themselves; errors as of `opened`."""
    os.close(descriptor(path))
    return path


def beside(file: Path, name: str) -> Path | None:
    """The file `name` (with folders: below) beside `file`; None where there is none, or a link leads out of that
    folder.
    """
    found = file.parent / name
    inside = os.path.join(os.path.realpath(file.parent), "")
    return found if os.path.isfile(found) and os.path.realpath(found).startswith(inside) else None


def descriptor(path: str | Path) -> int:
    """The file's descriptor, for whoever closes it; errors as of `opened`."""
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
    """The file, of which a link that leads out is not even opened."""
    try:
        return os.open(path, _FLAGS | _NO_LINK)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.EMLINK):  # the second is FreeBSD's word for a link
            raise
    if not _held(real := os.path.realpath(path), allowed):
        raise OutsideError(path)
    return os.open(real, _FLAGS | _NO_LINK)


def _held(real: str, allowed: Bounds) -> bool:
    return allowed.hold(real) or real.startswith(tuple(_temporary))


def _real(file: int, path: str | Path) -> str:
    """The real path of an open file, by the system's own word where it gives one."""
    try:
        real = os.readlink(f"/proc/self/fd/{file}")
    except OSError:
        return os.path.realpath(path)
    return real.removesuffix(" (deleted)") if real.startswith(os.sep) else os.path.realpath(path)


@contextmanager
def temporary() -> Iterator[Path]:
    """A folder of ours, whose files may be read wherever bounds hold; it is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="loganalyst-") as folder:
        inside = os.path.join(os.path.realpath(folder), "")
        _temporary.add(inside)
        try:
            yield Path(folder)
        finally:
            _temporary.discard(inside)
