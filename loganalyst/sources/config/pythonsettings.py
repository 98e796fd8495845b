"""Settings in a Python file, as nanoGPT and MMEngine have them: literals that are assigned. The file is parsed, never
run.

Read are numbers and arithmetic on them, texts, truth values, lists, dictionaries, calls of `dict`, and names that were
assigned before. A name counts with its last value; if that is no literal, it is not known. Assignments in a class have
the name of the class before them. Conditions, loops and functions are not read.
"""

import ast
import operator
import re
import warnings
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

MAX_POWER, MAX_OPERAND = 64, 1e18  # exponent, and size of a number: arithmetic beyond them takes long
_ARITHMETIC: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Pow: operator.pow,
}  # fmt: skip
_UNKNOWN = object()  # no literal; None is one
Scope = dict[str, Any]
_ASSIGNED = re.compile(r"^[A-Za-z_]\w*[ \t]*=(?!=)", re.MULTILINE)  # `learning_rate = 6e-4`
_PROGRAM = re.compile(r"^(?:async def|def|for|while|with|if __name__)\b", re.MULTILINE)  # `def train(model):`


def likely(opening: str) -> bool:
    """Whether the start of a Python file looks like settings: it assigns names, and is no program.

    >>> likely("learning_rate = 6e-4"), likely("lr = 6e-4\\ndef train(model): ...")
    (True, False)
    """
    return bool(_ASSIGNED.search(opening)) and not _PROGRAM.search(opening)


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
        place = f"line {error.lineno}: " if error.lineno else ""
        return {}, f"not valid Python: {place}{error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return {}, f"not valid Python: {error}"


def _scope(body: Sequence[ast.stmt], outer: Mapping[str, Any]) -> Scope:
    """The literals that these statements assign; `outer` are those of the module around a class."""
    found: Scope = {}
    known = ChainMap(found, dict(outer))
    for statement in body:
        if isinstance(statement, ast.ClassDef) and (own := _scope(statement.body, found)):
            found[statement.name] = own
        for name, node in _assigned(statement):
            value = _value(node, known)
            if value is _UNKNOWN:
                found.pop(name, None)
            else:
                found[name] = value
    return found


def _assigned(statement: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """The names that a statement assigns, with the expression: `a = b = 1`, `a: int = 1`."""
    match statement:
        case ast.Assign(targets=targets, value=value):
            yield from ((target.id, value) for target in targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            yield name, value


def _value(node: ast.expr, known: Mapping[str, Any]) -> Any:
    """The value of a literal; `_UNKNOWN` for anything else. Unknown items of lists and dictionaries are left out."""
    found: Any = _UNKNOWN
    match node:
        case ast.Constant(value=bool() | int() | float() | str() | None as value):
            found = value
        case ast.Name(id=name):
            found = known.get(name, _UNKNOWN)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            found = [value for item in items if (value := _value(item, known)) is not _UNKNOWN]
        case ast.Dict(keys=keys, values=values):
            named = [(k.value, v) for k, v in zip(keys, values, strict=True) if isinstance(k, ast.Constant)]
            found = _items([(str(name), value) for name, value in named], known)
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=words):
            found = _items([(word.arg, word.value) for word in words if word.arg], known)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            found = _computed(ast.Mult(), -1, _value(operand, known))
        case ast.BinOp(left=left, op=op, right=right):
            found = _computed(op, _value(left, known), _value(right, known))
    return found


def _items(pairs: Sequence[tuple[str, ast.expr]], known: Mapping[str, Any]) -> Scope:
    found = {name: _value(node, known) for name, node in pairs}
    return {name: value for name, value in found.items() if value is not _UNKNOWN}


def _computed(op: ast.operator, left: Any, right: Any) -> Any:
    """The result of arithmetic on two numbers; `_UNKNOWN` for other values and operators."""
    work = next((work for kind, work in _ARITHMETIC.items() if isinstance(op, kind)), None)
    numbers = all(isinstance(side, int | float) and abs(side) < MAX_OPERAND for side in (left, right))
    if work is None or not numbers or (isinstance(op, ast.Pow) and not 0 <= right <= MAX_POWER):
        return _UNKNOWN
    try:
        return work(left, right)
    except ArithmeticError:
        return _UNKNOWN
