"""Our checked rules as msgpack, for the compiled catalogue. Paths are relative to the folder of rules."""

from pathlib import Path
from typing import Any

import msgspec

from loganalyst.diagnosis.catalogueentries import Entries
from loganalyst.rulefiles import rules_dir


def encoded(entries: Entries) -> bytes:
    """The entries of our catalogue, wherever its folder will be."""
    return msgspec.msgpack.encode(_moved(msgspec.to_builtins(entries, enc_hook=_text), f"{rules_dir()}/"))


def decoded(data: bytes | msgspec.Raw) -> Entries:
    """The entries again. Raises msgspec.ValidationError for others."""
    return msgspec.msgpack.decode(data, type=Entries, dec_hook=_path)


def _text(value: object) -> str:
    """A path as text."""
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError


def _path(kind: type, value: Any) -> Any:
    return rules_dir() / value if kind is Path else value


def _moved(node: Any, folder: str) -> Any:
    """The data without the folder at the beginning of paths and of places (`path:line`)."""
    if isinstance(node, str):
        return node.removeprefix(folder)
    if isinstance(node, dict):
        return {key: _moved(value, folder) for key, value in node.items()}
    return [_moved(value, folder) for value in node] if isinstance(node, list | tuple) else node
