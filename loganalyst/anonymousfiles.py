"""Recognises a document of `loganalyst show --anonymous` by its first bytes, without the modules that read one."""

import re
from pathlib import Path

SCHEMA = "loganalyst/anonymous/1"
_HEAD = re.compile(rb'\s{0,20}\{\s{0,20}"schema"\s{0,20}:\s{0,20}"loganalyst/anonymous/')


def is_document(path: Path) -> bool:
    """Whether the file begins like a document of `loganalyst show --anonymous`."""
    if not path.is_file():  # reading a pipe would block
        return False
    try:
        with path.open("rb") as file:
            return _HEAD.match(file.read(200)) is not None
    except OSError:
        return False
