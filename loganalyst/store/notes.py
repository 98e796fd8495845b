"""Notes on runs that were read: what must stay the same for a run to count as unchanged."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from loganalyst.sources.files.readmark import Mark
from loganalyst.sources.filetables import Place
from loganalyst.store.ledger import Seal


class Print(NamedTuple):
    """The result of a `stat` of a file; `mtime` is in nanoseconds."""

    size: int
    mtime: int
    inode: int


UNKNOWN = Print(-1, -1, -1)  # no file has it: for files that must be read again


def stat_of(file: str | Path) -> Print | None:
    """The print of a file; None if it is missing."""
    try:
        found = os.stat(file)
    except OSError:
        return None
    return Print(found.st_size, found.st_mtime_ns, found.st_ino)


@dataclass(frozen=True)
class Seen:
    """A file as it was read: hashes of its beginning (`head`) and of the bytes before the mark (`tail`), how many rows
    of each table it gave, their place in the run, and its rows of small tables as the reader gave them (`packed`).
    """

    path: str
    print: Print
    format: str | None
    length: int
    head: str
    tail: str
    mark: Mark | None
    rows: Mapping[str, int]
    place: Place
    small: bytes | None = None


@dataclass(frozen=True)
class Known:
    """A run as it was read: its files in order, and the seals of the big tables that we wrote."""

    files: Sequence[Seen]
    written: Mapping[str, Seal]


class Joined(NamedTuple):
    """Files from elsewhere that were joined to a run, the reasons, and files that may belong to it. `near` is a digest
    of the names near the run at that time, and `jobs` are the ids of its jobs.
    """

    near: str = ""
    files: tuple[str, ...] = ()
    basis: tuple[str, ...] = ()
    suggested: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Note:
    """What to remember of the run at `path`: the `prints` of all its files by path (a file without a print counts as
    changed), `why` it could not be read, `until` when its status holds if no row is added (seconds since the epoch),
    and `corrected`, the stamp of the user's corrections.
    """

    run: str
    version: str
    prints: Mapping[str, Print]
    joined: Joined = Joined()
    why: str | None = None
    until: float | None = None
    known: Known = Known((), {})
    corrected: str = ""
    path: str = ""

    @property
    def fingerprint(self) -> str:
        """A digest of everything that must stay the same for the run to count as unchanged."""
        return fingerprint(self.version, self.corrected, self.joined, self.prints)


def fingerprint(version: str, corrected: str, joined: Joined, prints: Mapping[str, Print]) -> str:
    """The same as `Note.fingerprint`, without a note."""
    version = f"{version} {corrected}".rstrip()
    files = "\n".join([f"{path}\0{size} {mtime} {inode}" for path, (size, mtime, inode) in sorted(prints.items())])
    return blake2b(
        f"{version}\0{_without_near(joined)}\0{files}".encode("utf-8", "surrogatepass"), digest_size=16
    ).hexdigest()


class Remembered(NamedTuple):
    """What is remembered of a run: its `Note.fingerprint`, `why` it could not be read, `until` when its status holds,
    the joined files, and the seals of the big tables that were `written`.
    """

    fingerprint: str
    why: str | None
    until: float | None
    joined: Joined
    written: Mapping[str, Seal]


@lru_cache(1 << 12)
def joined_text(joined: Joined) -> str:
    """The files from elsewhere as JSON."""
    return json.dumps(joined)


@lru_cache(1 << 12)
def _without_near(joined: Joined) -> str:
    """All but the surroundings: a change there only means that the joined files must be looked up again."""
    return joined_text(joined._replace(near=""))
