"""Every regex that the package gives to Python's engine, and inputs on which an engine that goes back takes long.

Read from the source, so that a new one is found: `re.compile(X)` and the like, with X as the module knows it.
"""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

import loganalyst

METHODS = ("search", "match", "fullmatch", "sub", "subn", "finditer", "findall", "split")
FLAGS_AT = {"sub": 4, "subn": 4, "split": 3}  # the position of the flags among the arguments; elsewhere 2, of compile 1
LONG = 50  # repeats of something that may make a search long
SAMPLES = 4  # of one part of a regex
ENDS = ("", "\x00", "\n!")  # what no regex of ours ends with
USUAL = " 0a_A.-/:,\"'=[(\t\n"  # characters by which two parts that take the same text are found


class Regex(NamedTuple):
    """Where a regex is written (`loganalyst.sources.csv._CELL`, or a function), and what is asked of it."""

    place: str
    pattern: str | bytes
    flags: int
    methods: frozenset[str]


def sources() -> dict[str, ast.Module]:
    """Each module of the package, parsed. (Some need what may not be installed, so none is imported.)"""
    root = Path(str(loganalyst.__file__)).parent
    files = {path: path.relative_to(root.parent).with_suffix("") for path in sorted(root.rglob("*.py"))}
    names = {path: ".".join(file.parts).removesuffix(".__init__") for path, file in files.items()}
    return {name: ast.parse(path.read_text(encoding="utf-8")) for path, name in names.items()}


def of_package() -> tuple[list[Regex], list[str]]:
    """Each regex, and the places (`module.function`) of those that are made of what is known only when they run."""
    found: list[Regex] = []
    made: list[str] = []
    trees = sources()
    uses = _uses(trees)
    for module, tree in trees.items():
        for call, name, function in _calls(tree):
            try:
                pattern, flags = _arguments(call, vars(importlib.import_module(module)))
            except NameError:
                made.append(f"{module}.{function}")
                continue
            method = call.func.attr  # type: ignore[attr-defined]
            own, elsewhere = uses.get(f"{module}.{name}"), uses.get(name) if name[:1] != "_" else None
            methods = frozenset({method} if method in METHODS else own or elsewhere or METHODS)
            found.append(Regex(f"{module}.{name or function}", pattern, flags, methods))
    return found, made


def _calls(tree: ast.Module) -> Iterator[tuple[ast.Call, str, str]]:
    """Calls of the module `re` that take a regex, the name each is bound to, and the function around it."""
    names = {id(value): target for target, value in _bound(tree)}
    stack: list[tuple[ast.AST, str]] = [(tree, "")]
    while stack:
        node, function = stack.pop()
        if isinstance(node, ast.FunctionDef):
            function = node.name
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
            and node.func.attr in (*METHODS, "compile")
        ):
            yield node, names.get(id(node), ""), function
        stack += [(child, function) for child in ast.iter_child_nodes(node)]


def _bound(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    for node in tree.body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    yield from zip((t.id for t in target.elts), node.value.elts, strict=True)  # type: ignore[attr-defined]
                elif isinstance(target, ast.Name):
                    yield from ((target.id, part) for part in ast.walk(node.value))


def _uses(trees: dict[str, ast.Module]) -> dict[str, set[str]]:
    """The methods that are asked of each name: `package.module.NAME` within its module, `NAME` in any (as
    `NAME.search` where it is imported, and as `module.NAME.search`).
    """
    found: dict[str, set[str]] = {}
    for module, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in METHODS:
                name = getattr(node.value, "id", None) or getattr(node.value, "attr", None)
                found.setdefault(f"{module}.{name}", set()).add(node.attr)
                found.setdefault(str(name), set()).add(node.attr)
    return found


def _arguments(call: ast.Call, names: dict[str, Any]) -> tuple[str | bytes, int]:
    """The regex and its flags. NameError where a variable of a function is in it."""
    method = call.func.attr  # type: ignore[attr-defined]
    at = 1 if method == "compile" else FLAGS_AT.get(method, 2)
    given = next((k.value for k in call.keywords if k.arg == "flags"), call.args[at] if len(call.args) > at else None)
    pattern, flags = (_value(node, names) if node else 0 for node in (call.args[0], given))
    return getattr(pattern, "pattern", pattern), int(flags)


def _value(node: ast.expr, names: dict[str, Any]) -> Any:
    return eval(compile(ast.Expression(node), "<regex>", "eval"), names)


def in_texts(tree: ast.Module) -> Iterator[str]:
    """The regexes that stand as plain texts in a module: of `re`, and of pytest's `match=`."""
    given = [call.args[0] for call, _, _ in _calls(tree)]
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    given += [k.value for call in calls for k in call.keywords if k.arg == "match"]
    yield from (n.value for n in given if isinstance(n, ast.Constant) and isinstance(n.value, str))


def parts(pattern: str | bytes, flags: int) -> set[str]:
    """The kinds of parts a regex is made of, as the parser calls them: `MAX_REPEAT`, `ATOMIC_GROUP`, …"""
    return {str(op) for op, _ in _walk(parser.parse(pattern, flags))}


def _walk(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Every part, at any depth."""
    if isinstance(tree, parser.SubPattern):
        for op, value in tree.data:
            yield op, value
            yield from _walk(value)
    elif isinstance(tree, (tuple, list)):
        for each in tree:
            yield from _walk(each)


def nasty(regex: Regex, length: int) -> list[str]:
    """Texts of about `length` characters that begin as a match does, go on with what a part of the regex takes again
    and again, and end so that there is no match.
    """
    pieces = dict.fromkeys(_pumps(parser.parse(regex.pattern, regex.flags), [""]))
    made: dict[str, None] = {}
    for before, pump in pieces:
        for end in ENDS:
            made[before + pump * (length // len(pump)) + end] = None
            made[pump * (length // len(pump)) + end] = None
            made[(before + pump) * (length // len(before + pump)) + end] = None
        made[before * (length // len(before)) if before else pump] = None
    return list(made)


def _pumps(tree: Any, before: list[str]) -> Iterator[tuple[str, str]]:
    """What stands before each part that may be repeated, and a text of that part."""
    for op, value in tree:
        name = str(op)
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            if value[1] > LONG:
                yield from ((b, text) for b in before for text in _samples(value[2]) if text)
            yield from _pumps(value[2], before)
        elif name == "BRANCH":
            for branch in value[1]:
                yield from _pumps(branch, before)
        elif name in ("SUBPATTERN", "ATOMIC_GROUP", "ASSERT", "ASSERT_NOT"):
            yield from _pumps(value[-1] if isinstance(value, tuple) else value, before)
        before = _some(b + text for b in before for text in _of(name, value))


def _samples(tree: Any) -> list[str]:
    """Some short texts that the parts in a row take."""
    made = [""]
    for op, value in tree:
        made = _some(text + more for text in made for more in _of(str(op), value))
    return made


def _of(name: str, value: Any) -> list[str]:
    """Some short texts that one part takes."""
    match name:
        case "LITERAL":
            return [chr(value)]
        case "ANY" | "NOT_LITERAL" | "IN":
            return _some(c for c in _candidates(value) if _takes(name, value, c))
        case "BRANCH":
            return list(dict.fromkeys(text for branch in value[1] for text in _samples(branch)[:2]))[: 2 * SAMPLES]
        case "SUBPATTERN":
            return _samples(value[-1])
        case "ATOMIC_GROUP":
            return _samples(value)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            return _some([text * value[0] for text in _samples(value[2])] + _samples(value[2]) * (value[0] == 0))
    return [""]


def _candidates(value: Any) -> Iterator[str]:
    yield from USUAL
    if isinstance(value, list):
        yield from (chr(v if isinstance(v, int) else v[0]) for op, v in value if str(op) in ("LITERAL", "RANGE"))
    yield from map(chr, range(256))


def _takes(name: str, value: Any, char: str) -> bool:
    if name == "ANY":
        return char != "\n"
    if name == "NOT_LITERAL":
        return ord(char) != value
    (op, _), *rest = value
    negated = str(op) == "NEGATE"
    return negated != any(_is(str(op), v, char) for op, v in (rest if negated else value))


def _is(op: str, value: Any, char: str) -> bool:
    if op == "LITERAL":
        return ord(char) == value
    if op == "RANGE":
        return bool(value[0] <= ord(char) <= value[1])
    kind = {"DIGIT": str.isdecimal, "SPACE": str.isspace, "WORD": lambda c: c.isalnum() or c == "_"}
    _, negated, plain = str(value).rpartition("NOT_")
    return bool(negated) != kind[plain.removeprefix("CATEGORY_")](char)


def _some(texts: Any) -> list[str]:
    """The first texts that differ; no more are made."""
    found: list[str] = []
    for text in texts:
        if text not in found:
            found.append(text)
            if len(found) == SAMPLES:
                break
    return found


def asked(regex: Regex, text: str) -> None:
    """What the package asks of the regex, of this text."""
    compiled: Any = re.compile(regex.pattern, regex.flags)
    data: Any = text.encode("utf-8", "replace") if isinstance(regex.pattern, bytes) else text
    for method in sorted(regex.methods):
        if method == "finditer":
            list(compiled.finditer(data))
        elif method in ("sub", "subn"):
            getattr(compiled, method)(data[:0], data)
        else:
            getattr(compiled, method)(data)
