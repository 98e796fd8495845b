"""Finds the user's entry function by `module:function` or `file.py:function`, calls it, and checks the result."""

import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from loganalyst.errors import ReplayError, nearest
from loganalyst.replaying.spec import ReplaySpec

FORM = "--entry takes module:function, such as train:replay_spec, or file.py:function"


def entry_name(entry: str | Callable[[], ReplaySpec]) -> str:
    """The name of an entry. A function is named by its module, because another process calls it."""
    if isinstance(entry, str):
        module, _, function = entry.rpartition(":")
        if not module or not function.replace(".", "_").isidentifier():
            raise ReplayError(entry, "is not the name of an entry", FORM)
        return entry
    module, name = getattr(entry, "__module__", ""), getattr(entry, "__qualname__", "")
    if module == "__main__":
        module = getattr(sys.modules["__main__"], "__file__", None) or ""
    if not module or not name or "<" in name:
        raise ReplayError(entry, "is not a function of a module", "it runs in its own process: put it into a file")
    return f"{module}:{name}"


def call(entry: str) -> ReplaySpec:
    """The user's spec. Raises ReplayError if the entry is missing or returns something else."""
    module, _, name = entry.rpartition(":")
    found: Any = _module(entry, module)
    for part in name.split("."):
        if not hasattr(found, part):
            known = [n for n in vars(found) if callable(getattr(found, n)) and not n.startswith("_")]
            raise ReplayError(entry, f"{module} has no {part!r}", nearest(part, known) or f"it has {', '.join(known)}")
        found = getattr(found, part)
    if not callable(found):
        raise ReplayError(entry, f"{name} is a {type(found).__name__}", "a function that returns a ReplaySpec")
    spec = found()
    if not isinstance(spec, ReplaySpec):
        raise ReplayError(entry, f"returned a {type(spec).__name__}", "it returns a loganalyst.ReplaySpec")
    return spec


def _module(entry: str, module: str) -> Any:
    """Import from the working directory first, and for a file from its own folder."""
    sys.path.insert(0, str(Path.cwd()))
    if not module.endswith(".py"):
        try:
            return importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name and (module == error.name or module.startswith(f"{error.name}.")):
                hint = f"searched in {Path.cwd()} and on Python's module path"
                raise ReplayError(entry, f"there is no module {error.name!r}", hint) from None
            raise
    path = Path(module)
    if not path.is_file():
        raise ReplayError(entry, f"there is no file {module}", FORM)
    sys.path.insert(0, str(path.parent.resolve()))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    found = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = found
    spec.loader.exec_module(found)
    return found
