"""Settings in a Python file, as nanoGPT and MMEngine have them: literals that are assigned. The file is parsed, never
run.

Read are numbers and arithmetic on them, texts, truth values, lists, dictionaries, calls of `dict`, and names that were
assigned before. A name counts with its last value; if that is no literal, it is not known. Assignments in a class have
the name of the class before them. Conditions, loops and functions are not read.
"""

import ast
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

MAX_POWER = 64  # exponent; larger powers take long to work out
_UNKNOWN = object()  # no literal; None is one
Scope = dict[str, Any]


def assignments(code: str) -> tuple[Scope, str]:
    """The assigned literals by name, and the fault of the file (empty: none).

    >>> from loganalyst.sources.config.pythonsettings import assignments
    >>> assignments("batch_size = 12\\ntokens = batch_size * 1024\\nname = input()\\nopt = dict(lr=6e-4)")
    ({'batch_size': 12, 'tokens': 12288, 'opt': {'lr': 0.0006}}, '')
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(code).body
        return _scope(body, {}), ""
    except SyntaxError as error:
        return {}, f"not valid Python: line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return {}, f"not valid Python: {error}"


def _scope(body: Sequence[ast.stmt], outer: Mapping[str, Any]) -> Scope:
    """The literals that these statements assign; `outer` are those of the module around a class."""
    found: Scope = {}
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            found[statement.name] = _scope(statement.body, found)
        for name, node in _assigned(statement):
            value = _value(node, {**outer, **found})
            if value is _UNKNOWN:
                found.pop(name, None)
            else:
                found[name] = value
    return {name: value for name, value in found.items() if value != {} or name not in _classes(body)}


def _classes(body: Sequence[ast.stmt]) -> frozenset[str]:
    return frozenset(statement.name for statement in body if isinstance(statement, ast.ClassDef))


def _assigned(statement: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """The names that a statement assigns, with the expression: `a = b = 1`, `a: int = 1`."""
    match statement:
        case ast.Assign(targets=targets, value=value):
            yield from ((target.id, value) for target in targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            yield name, value


def _value(node: ast.expr, known: Mapping[str, Any]) -> Any:
    """The value of a literal; `_UNKNOWN` for anything else. Unknown items of lists and dictionaries are left out."""
    match node:
        case ast.Constant(value=bool() | int() | float() | str() | None as value):
            return value
        case ast.Name(id=name):
            return known.get(name, _UNKNOWN)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [value for item in items if (value := _value(item, known)) is not _UNKNOWN]
        case ast.Dict(keys=keys, values=values):
            named = [(k.value, v) for k, v in zip(keys, values, strict=True) if isinstance(k, ast.Constant)]
            return _items([(str(name), value) for name, value in named], known)
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=words):
            return _items([(word.arg, word.value) for word in words if word.arg], known)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _computed(ast.Mult(), -1, _value(operand, known))
        case ast.BinOp(left=left, op=op, right=right):
            return _computed(op, _value(left, known), _value(right, known))
    return _UNKNOWN


def _items(pairs: Sequence[tuple[str, ast.expr]], known: Mapping[str, Any]) -> Scope:
    found = {name: _value(node, known) for name, node in pairs}
    return {name: value for name, value in found.items() if value is not _UNKNOWN}


def _computed(op: ast.operator, left: Any, right: Any) -> Any:
    """The result of arithmetic on two numbers; `_UNKNOWN` for other values and operators."""
    if not all(isinstance(side, int | float) and abs(side) < 1e18 for side in (left, right)):
        return _UNKNOWN
    try:
        match op:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Mult():
                return left * right
            case ast.Div():
                return left / right
            case ast.FloorDiv():
                return left // right
            case ast.Pow() if 0 <= right <= MAX_POWER:
                return left**right
    except ArithmeticError:
        return _UNKNOWN
    return _UNKNOWN
