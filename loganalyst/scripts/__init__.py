"""Diagnostic scripts for the user's own training: templates that are handed out as text and never imported here.

A template is a file in this folder, found by scanning. It needs only torch and the standard library, and offers one
function of its own name. The function prints a table and returns it as a plain dict; `suspicious` lists sentences on
faults.
"""

import ast
from importlib.resources import files

__all__ = ["summary", "templates"]


def templates() -> dict[str, str]:
    """The text of every template by name, in alphabetical order."""
    found = [f for f in files(__name__).iterdir() if f.name.endswith(".py") and not f.name.startswith("_")]
    return {f.name.removesuffix(".py"): f.read_text(encoding="utf-8") for f in sorted(found, key=lambda f: f.name)}


def summary(text: str) -> str:
    """The first line of a template's docstring, which says what it shows."""
    return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
