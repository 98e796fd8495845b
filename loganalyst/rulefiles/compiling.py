"""Makes the compiled file of our YAML, and keeps it in the user's cache folder."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from loganalyst.errors import LogAnalystError, RuleError
from loganalyst.rulefiles.compiledfile import Compiled, compiled, sources_stamp
from loganalyst.rulefiles.folders import rules_dir, yaml_files
from loganalyst.rulefiles.sealedfile import sealed
from loganalyst.writing import write_whole


def write_compiled(file: Path, rules: Callable[[], bytes]) -> None:
    """Compile our YAML and the checked `rules` (msgpack) to a file. Several processes may write it at once.

    Raises RuleError for faulty YAML and for sources that change meanwhile, LogAnalystError if it cannot be written.
    """
    stamp = sources_stamp()
    content = msgspec.msgpack.encode(Compiled(_files(), msgspec.Raw(rules())))
    if sources_stamp() != stamp:
        raise RuleError(rules_dir(), "changes while it is compiled")
    write_whole(file, sealed(content, stamp), mode=0o644)


def keep_compiled(file: Path, rules: Callable[[], bytes]) -> None:
    """The same for the user's cache folder: where it cannot be written, nothing happens."""
    with suppress(LogAnalystError, OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.access(file.parent, os.W_OK):
            write_compiled(file, rules)
            compiled.cache_clear()


def _files() -> dict[str, msgspec.Raw]:
    """The data of each file. A file whose data msgpack changes (dates become texts) is left out, and parsed as YAML."""
    from loganalyst.rulefiles.parsing import parsed  # most processes compile nothing, and need no YAML library

    found = {}
    for path in yaml_files(rules_dir()):
        data = parsed(path).data
        encoded = msgspec.msgpack.encode(data)
        if msgspec.msgpack.decode(encoded) == data:
            found[path.relative_to(rules_dir()).as_posix()] = msgspec.Raw(encoded)
    return found
