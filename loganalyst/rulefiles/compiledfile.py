"""Our YAML in one compiled file, because a start that parses hundreds of YAML files takes much longer.

The file holds plain data as msgpack, and the stamp of its sources: a hash of all YAML and code that it was made from.
A wheel has it next to its YAML; a checkout keeps it in the user's cache folder. A file with another stamp, a wrong
checksum or another owner is ignored, and the YAML is parsed.
"""

import os
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET

from loganalyst.rulefiles.folders import rules_dir, sources
from loganalyst.rulefiles.sealedfile import HASH_BYTES, unsealed

NAME = "compiled.msgpack"
_CODE = ("diagnosis", "features", "model", "rulefiles")  # code that decides what the checked rules are


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
        with suppress(msgspec.MsgspecError):
            if file is not None and (content := unsealed(file, wanted, trusted=trusted)):
                return msgspec.msgpack.decode(content, type=Compiled)
    return None


def sources_stamp() -> bytes:
    """The hash of all our YAML, and of the code that decides what the checked rules are."""
    package = Path(__file__).parents[1]
    state = blake2b(digest_size=HASH_BYTES)
    for folder, end in ((rules_dir(), ".yaml"), *((package / name, ".py") for name in _CODE)):
        for name, content in sources(folder, end):
            state.update(f"{folder.name}/{name}\0{len(content)}\0".encode())
            state.update(content)
    return state.digest()


def cache_file(end: str = ".msgpack") -> Path | None:
    """The compiled file of this installation in the user's cache folder, or another one whose name ends with `end`.
    None if the user has no such folder.
    """
    place = blake2b(os.fsencode(rules_dir()), digest_size=8).hexdigest()
    given = os.environ.get("XDG_CACHE_HOME", "")
    with suppress(RuntimeError):  # no home
        folder = Path(given) if os.path.isabs(given) else Path.home() / ".cache"
        return folder / "loganalyst" / f"{place}{end}"
    return None
