"""The ledger: a list of the files that a store's folder must have, so that a lost file is not mistaken for no rows.

`tables/ledger` lists each segment of the small tables with its seal. The seals of a run's big tables are in its row of
`runs`. A seal holds while size and modification time are the same; if the time differs, as in a copied store, the
content decides. The ledger is replaced as a whole, after all files that it names are on disk.
"""

import json
import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG
from typing import Any, NamedTuple

import numpy as np

from loganalyst.errors import StoreError

NAME = "ledger"
HEALING = "`loganalyst ingest PATH --store DIR`, or `audit`, reads them again"
_CHUNK_BYTES = 1 << 20
_PRIME = 0x100000001B3


class DamagedError(StoreError):
    """Rows that were written to the store are gone or damaged."""


class Seal(NamedTuple):
    """A file as it was written: size in bytes, modification time in nanoseconds, and a digest of its content."""

    size: int
    mtime: int
    digest: int


def seal(file: Path) -> Seal:
    """The seal of a file. Raises OSError."""
    found = os.stat(file)
    return Seal(found.st_size, found.st_mtime_ns, _digest(file))


def broken(file: Path, sealed: Seal) -> str:
    """Why a file is not the sealed one; empty if it is."""
    try:
        found = os.stat(file)
        if not S_ISREG(found.st_mode):
            return "is no file"
        if found.st_size != sealed.size:
            return f"has {found.st_size:,} bytes, not {sealed.size:,}"
        if found.st_mtime_ns == sealed.mtime or _digest(file) == sealed.digest:
            return ""
    except FileNotFoundError:
        return "is gone"
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    return "was changed"


def _digest(file: Path) -> int:
    """The sums of the 64-bit words of each MiB, folded. Ten times as fast as a checksum; no protection from forgery."""
    found = 0
    with file.open("rb") as handle:
        while data := handle.read(_CHUNK_BYTES):
            words = np.frombuffer(data.ljust(-(-len(data) // 8) * 8, b"\0"), np.uint64)
            found = (found * _PRIME + int(words.sum(dtype=np.uint64))) % (1 << 63)
    return found


@dataclass
class Ledger:
    """The `segments` of each small table by file name; the seals of big tables that are being put in place (`pending`,
    by run); and the stamps up to which rows of lost runs do not count (`dropped`).
    """

    segments: dict[str, dict[str, Seal]] = field(default_factory=dict)
    pending: dict[str, dict[str, Seal]] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)

    def text(self) -> bytes:
        """The content of the file: a checksum, then JSON."""
        body = json.dumps([self.segments, self.pending, self.dropped]).encode()
        return b"%08x\n%s" % (zlib.crc32(body), body)


def load(tables: Path) -> Ledger:
    """The ledger in the folder `tables`. Raises DamagedError if it is damaged, or missing although segments exist."""
    file = tables / NAME
    try:
        head, _, body = file.read_bytes().partition(b"\n")
        if int(head, 16) != zlib.crc32(body):
            raise ValueError
        segments, pending, dropped = json.loads(body)
        return Ledger(_seals(segments), _seals(pending), dropped)
    except FileNotFoundError:
        if not any(tables.glob("*/*.parquet")):
            return Ledger()
        raise DamagedError(file, "is gone: rows of the store may be missing", HEALING) from None
    except (OSError, ValueError, TypeError, AttributeError):
        raise DamagedError(file, "is damaged: rows of the store may be missing", HEALING) from None


def _seals(found: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Seal]]:
    return {name: {file: Seal(*sealed) for file, sealed in files.items()} for name, files in found.items()}


def read(text: str | None) -> dict[str, Seal]:
    """The seals of a run's big tables from the text in its row of `runs`; none if the row has no text."""
    return {name: Seal(*sealed) for name, sealed in json.loads(text or "{}").items()}


def written(seals: Mapping[str, Seal]) -> str:
    """Seals as text that `read` reads."""
    return json.dumps(seals)
