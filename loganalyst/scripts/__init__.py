"""Diagnostic scripts for the user's own training: templates that are handed out as text and never imported here.

A template is a file beside this one, found by scanning. It needs torch and the standard library only, offers one
function of its own name, and prints a table and returns it as a plain dict with what is `suspicious` in sentences.
"""

import ast
from importlib.resources import files

__all__ = ["summary", "templates"]


def templates() -> dict[str, str]:
    """The text of every template by its name, in the order of the names."""
    found = [f for f in files(__name__).iterdir() if f.name.endswith(".py") and not f.name.startswith("_")]
    return {f.name.removesuffix(".py"): f.read_text(encoding="utf-8") for f in sorted(found, key=lambda f: f.name)}


def summary(text: str) -> str:
    """The first line of a template's docstring: what it shows."""
    return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
