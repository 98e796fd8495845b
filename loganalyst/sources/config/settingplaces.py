"""File and line of settings: constants in Python (from its syntax tree), and leaves of YAML and JSON."""

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

MAX_BYTES = 1_000_000  # of a source file
MAX_FILES = 500  # of a folder
KINDS = (".py", ".yaml", ".yml", ".json")


def places(named: Iterable[Path]) -> tuple[tuple[Place, ...], tuple[str, ...]]:
    """The settings in files and folders, in order, and why files were left out. No code is run."""
    found: list[Place] = []
    faults: list[str] = []
    for path, allowed in ((file, bounds([root], [os.path.realpath(root)])) for root in named for file in _files(root)):
        try:
            with within(allowed):
                checked(path)
            if path.stat().st_size > MAX_BYTES:
                faults.append(f"{path}: larger than {MAX_BYTES // 1_000_000} MB, not searched for settings")
            else:
                found += _python(path) if path.suffix == ".py" else _tree(path)
        except (RuleError, SyntaxError, ValueError, RecursionError, MemoryError, OSError) as error:
            faults.append(f"{path}: not searched for settings ({str(error).removeprefix(f'{path}:')})")
    return tuple(found), tuple(faults)


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path] if path.suffix in KINDS else []
    inside = (p for p in path.rglob("*") if p.suffix in KINDS and not any(part.startswith(".") for part in p.parts))
    return sorted(inside)[:MAX_FILES]


def _tree(path: Path) -> Iterator[Place]:
    """The leaves of a YAML or JSON file, by their last key."""
    file = load(path)
    for at, line in file.lines.items():
        if at and isinstance(at[-1], str) and _is_scalar(value := file.get(at)):
            yield Place(str(path), line, at[-1], str(value))


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | int | float)


def _python(path: Path) -> Iterator[Place]:
    """Constants assigned to names, fields, parameters, keywords and keys, and defaults of options; by line."""
    nodes = ast.walk(ast.parse(whole(path), str(path)))
    found = {(value.lineno, key): value for node in nodes for key, value in _assignments(node) if value is not None}
    for (line, key), value in sorted(found.items(), key=lambda row: row[0]):
        constant = _constant(value)
        if constant is not None:
            yield Place(str(path), line, key, constant)


def _assignments(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
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
    """The longest option among the arguments of a call, written as a setting: `--learning-rate` is `learning_rate`."""
    texts = (a.value for a in args if isinstance(a, ast.Constant) and isinstance(a.value, str))
    options = [text.lstrip("-").replace("-", "_") for text in texts if text.startswith("-")]
    return max(options, key=len, default="")


def _name(target: ast.expr) -> str:
    return target.id if isinstance(target, ast.Name) else target.attr if isinstance(target, ast.Attribute) else ""


def _constant(value: ast.expr) -> str | None:
    """A number, text or boolean as written; None for anything that must be computed."""
    try:
        found = ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return str(found) if _is_scalar(found) and not (isinstance(found, float) and math.isnan(found)) else None
