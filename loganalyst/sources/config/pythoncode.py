"""Python expressions in texts: parsed, never run."""

import ast
import warnings


def expression(text: str) -> ast.expr | None:
    """The expression in a text; None if it is not one, or is cut off. Python's warnings are suppressed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def value(text: str) -> object:
    """The plain value (text, number, list …) that a text contains; None if there is none."""
    node = expression(text.lstrip(" \t"))
    try:
        return None if node is None else ast.literal_eval(node)
    except (TypeError, ValueError, RecursionError, MemoryError):
        return None


def keywords(call: str) -> list[tuple[str, str]] | None:
    """The keyword arguments of a call: texts without quotes, other values as written. None if the call is cut off."""
    node = expression(call[: call.rfind(")") + 1])
    if node is None:
        return None
    words = node.keywords if isinstance(node, ast.Call) else []
    try:
        return [(word.arg, _written(word.value)) for word in words if word.arg]
    except RecursionError:
        return None


def _written(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ast.unparse(node)
