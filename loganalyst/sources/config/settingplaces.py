"""Where settings are written: constants in Python (by its syntax tree), leaves of YAML and JSON, with file and line."""

import ast
import math
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from loganalyst.errors import RuleError
from loganalyst.model import Place
from loganalyst.opening import bounds, checked, whole, within
from loganalyst.rulefiles import load

__all__ = ["places"]

LARGEST = 1_000_000  # bytes of a source file
MOST = 500  # files of a folder
KINDS = (".py", ".yaml", ".yml", ".json")


def places(named: Iterable[Path]) -> tuple[tuple[Place, ...], tuple[str, ...]]:
    """The settings in files and folders, in their order, and why a file was left out. Nothing of them is run."""
    found: list[Place] = []
    faults: list[str] = []
    for path, allowed in ((file, bounds([one], [os.path.realpath(one)])) for one in named for file in _files(one)):
        try:
            with within(allowed):
                checked(path)
            if path.stat().st_size > LARGEST:
                faults.append(f"{path}: larger than {LARGEST // 1_000_000} MB, not searched for settings")
            else:
                found += _python(path) if path.suffix == ".py" else _tree(path)
        except (RuleError, SyntaxError, ValueError, RecursionError, MemoryError, OSError) as error:
            faults.append(f"{path}: not searched for settings ({str(error).removeprefix(f'{path}:')})")
    return tuple(found), tuple(faults)


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path] if path.suffix in KINDS else []
    inside = (p for p in path.rglob("*") if p.suffix in KINDS and not any(part.startswith(".") for part in p.parts))
    return sorted(inside)[:MOST]


def _tree(path: Path) -> Iterator[Place]:
    """The leaves of a YAML or JSON file, by their last key."""
    file = load(path)
    for at, line in file.lines.items():
        if at and isinstance(at[-1], str) and _plain(value := file.get(at)):
            yield Place(str(path), line, at[-1], str(value))


def _plain(value: Any) -> bool:
    return isinstance(value, str | int | float)


def _python(path: Path) -> Iterator[Place]:
    """Constants given to names, fields, parameters, keywords and keys, and defaults of options, by line."""
    nodes = ast.walk(ast.parse(whole(path), str(path)))
    found = {(value.lineno, key): value for node in nodes for key, value in _given(node) if value is not None}
    for (line, key), value in sorted(found.items(), key=lambda row: row[0]):
        constant = _constant(value)
        if constant is not None:
            yield Place(str(path), line, key, constant)


def _given(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((_name(target), value) for target in targets)
        case ast.AnnAssign(target=target, value=value):
            yield _name(target), value
        case ast.arguments():
            plain = [*node.posonlyargs, *node.args]
            yield from zip([a.arg for a in plain[len(plain) - len(node.defaults) :]], node.defaults, strict=True)
            yield from ((a.arg, value) for a, value in zip(node.kwonlyargs, node.kw_defaults, strict=True))
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            named = ((key.value, value) for key, value in pairs if isinstance(key, ast.Constant))
            yield from ((key, value) for key, value in named if isinstance(key, str))
        case ast.Call(args=args, keywords=keywords):
            option = _option(args)
            for keyword in keywords:
                key = option if option and keyword.arg == "default" else keyword.arg
                yield key or "", keyword.value
        case _:
            return


def _option(args: list[ast.expr]) -> str:
    """The name of `--learning-rate` among the arguments of a call (the longest one), as a setting is written."""
    texts = (a.value for a in args if isinstance(a, ast.Constant) and isinstance(a.value, str))
    options = [text.lstrip("-").replace("-", "_") for text in texts if text.startswith("-")]
    return max(options, key=len, default="")


def _name(target: ast.expr) -> str:
    return target.id if isinstance(target, ast.Name) else target.attr if isinstance(target, ast.Attribute) else ""


def _constant(value: ast.expr) -> str | None:
    """A number, text or truth value as it is written; None for anything that has to be computed."""
    try:
        found = ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return str(found) if _plain(found) and not (isinstance(found, float) and math.isnan(found)) else None
