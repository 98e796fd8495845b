"""Our YAML in one compiled file, because a start that parses hundreds of YAML files takes much longer.

The file holds plain data as msgpack, and the stamp of its sources: a hash of all YAML and code that it was made from.
A wheel has it next to its YAML; a checkout keeps it in the user's cache folder. A file with another stamp, a wrong
checksum or another owner is ignored, and the YAML is parsed.
"""

import os
import stat
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET

from loganalyst.rulefiles.folders import rules_dir, sources

NAME = "compiled.msgpack"
MAX_BYTES = 50_000_000  # of the compiled file
_MAGIC = b"loganalyst catalogue 1\n"
_HASH_BYTES = 16
_CODE = ("diagnosis", "features", "model", "rulefiles")  # code that decides what the checked rules are
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Compiled(msgspec.Struct, frozen=True):
    """The data of each YAML file by its path below the folder of rules, and the checked rules."""

    files: dict[str, msgspec.Raw]
    rules: msgspec.Raw


def data_of(path: Path) -> Any:
    """The compiled data of one of our files; UNSET if there are none (None is the data of an empty file)."""
    known = compiled()
    if known is None or not path.is_relative_to(rules_dir()):
        return UNSET
    data = known.files.get(path.relative_to(rules_dir()).as_posix())
    return UNSET if data is None else msgspec.msgpack.decode(data)


@cache
def compiled() -> Compiled | None:
    """The compiled file of the package, else of the cache, if it agrees with our YAML and code."""
    wanted = sources_stamp()
    for file, trusted in ((rules_dir() / NAME, True), (cache_file(), False)):
        with suppress(OSError, msgspec.MsgspecError):
            if file is not None and (content := _content(file, wanted, trusted=trusted)):
                return msgspec.msgpack.decode(content, type=Compiled)
    return None


def sealed(content: bytes, stamp: bytes) -> bytes:
    """The bytes of a compiled file: magic, stamp, checksum, content."""
    return b"".join((_MAGIC, stamp, _checksum(content), content))


def sources_stamp() -> bytes:
    """The hash of all our YAML, and of the code that decides what the checked rules are."""
    package = Path(__file__).parents[1]
    state = blake2b(digest_size=_HASH_BYTES)
    for folder, end in ((rules_dir(), ".yaml"), *((package / name, ".py") for name in _CODE)):
        for name, content in sources(folder, end):
            state.update(f"{folder.name}/{name}\0{len(content)}\0".encode())
            state.update(content)
    return state.digest()


def cache_file() -> Path | None:
    """The compiled file of this checkout in the user's cache folder. None if the user has none."""
    place = blake2b(os.fsencode(rules_dir()), digest_size=8).hexdigest()
    given = os.environ.get("XDG_CACHE_HOME", "")
    with suppress(RuntimeError):  # no home
        folder = Path(given) if os.path.isabs(given) else Path.home() / ".cache"
        return folder / "loganalyst" / f"{place}.msgpack"
    return None


def _content(file: Path, stamp: bytes, *, trusted: bool) -> memoryview | None:
    """The content of a compiled file. None if it is damaged, made from other sources, or may be another user's."""
    with open(os.open(file, _FLAGS), "rb") as opened:
        state = os.fstat(opened.fileno())
        if not stat.S_ISREG(state.st_mode) or state.st_size > MAX_BYTES or not (trusted or _is_ours(state)):
            return None
        data = memoryview(opened.read(MAX_BYTES))
    head = len(_MAGIC) + 2 * _HASH_BYTES
    content = data[head:]
    return content if data[:head] == _MAGIC + stamp + _checksum(content) else None


def _is_ours(state: os.stat_result) -> bool:
    """Whether only this user can have written the file."""
    return not hasattr(os, "geteuid") or (state.st_uid == os.geteuid() and not state.st_mode & 0o022)


def _checksum(content: bytes | memoryview) -> bytes:
    return blake2b(content, digest_size=_HASH_BYTES).digest()
