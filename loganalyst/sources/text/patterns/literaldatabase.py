"""The search that hyperscan compiles for all literals, kept in the user's cache folder.

Compiling takes as long as reading a thousand lines; loading takes a tenth of a millisecond. A kept search is used only
if this user alone can have written it, and if it was made from the same regexes by the same hyperscan for such a
processor. The file holds no data of any run.
"""

import os
import platform
from collections.abc import Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

from loganalyst import rulefiles
from loganalyst.rulefiles.sealedfile import HASH_BYTES, keep_sealed, unsealed

END = ".literals"  # of the file's name
_new: dict[bytes, bytes] = {}  # what this process compiled, by its stamp, until it is kept


def database(regexes: Sequence[bytes], flags: Sequence[int]) -> Any:
    """A search for these regexes, which are numbered from 0: the kept one, else a new one. ImportError without
    hyperscan.
    """
    import hyperscan

    stamp = _stamp(regexes, flags)
    return _kept(stamp) or _compiled(hyperscan.Database(), regexes, flags, stamp)


def file() -> Path | None:
    """Where a search is kept. None if this user has no such folder, or the system has no owners of files."""
    return rulefiles.cache_file(END) if hasattr(os, "geteuid") else None


def keep(place: Path) -> None:
    """Keep what this process has compiled: where that cannot be written, nothing happens."""
    while _new:
        stamp, content = _new.popitem()
        keep_sealed(place, content, stamp)


def is_new() -> bool:
    """Whether this process has compiled a search that is not kept yet."""
    return bool(_new)


def _kept(stamp: bytes) -> Any:
    """The kept search with this stamp. None if there is none, or hyperscan refuses it."""
    import hyperscan

    place = file()
    content = unsealed(place, stamp, trusted=False) if place else None
    if content is None:
        return None
    with suppress(hyperscan.HyperscanError, TypeError, ValueError):
        found = hyperscan.loadb(bytes(content), hyperscan.HS_MODE_BLOCK)
        found.scratch = hyperscan.Scratch(found)
        return found
    return None


def _compiled(empty: Any, regexes: Sequence[bytes], flags: Sequence[int], stamp: bytes) -> Any:
    import hyperscan

    empty.compile(expressions=list(regexes), ids=list(range(len(regexes))), flags=list(flags))
    with suppress(hyperscan.HyperscanError):
        _new[stamp] = hyperscan.dumpb(empty)
    return empty


def _stamp(regexes: Sequence[bytes], flags: Sequence[int]) -> bytes:
    """A hash of the regexes, and of what hyperscan says of a search that it makes here: its version, and the features
    of the processor that the search needs. A home folder may be shared by machines that differ in those.
    """
    import hyperscan

    here = hyperscan.Database()
    here.compile(expressions=[b"a"], ids=[0], flags=[0])
    state = blake2b(f"{here.info()} {platform.machine()}\0".encode(), digest_size=HASH_BYTES)
    state.update(b"\0".join(regexes) + bytes(flags))
    return state.digest()
