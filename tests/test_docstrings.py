"""Every public docstring has an example, and every example of the package runs."""

import ast
import doctest
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import loganalyst as la

pytestmark = pytest.mark.usefixtures("workers_here")
ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "loganalyst"
# `...` stands for what differs from machine to machine
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
WITH_EXAMPLES = [file for file in sorted(PACKAGE.rglob("*.py")) if ">>> " in file.read_text(encoding="utf-8")]


def public() -> Iterator[tuple[str, Any]]:
    """All that `loganalyst.__all__` and `la.signals` name, with the public methods and properties of classes."""
    names = [*((name, getattr(la, name)) for name in la.__all__ if name != "signals")]
    names += [(f"signals.{name}", getattr(la.signals, name)) for name in la.signals.__all__]
    for name, value in names:
        yield name, value
        for member, inner in vars(value).items() if inspect.isclass(value) else ():
            if not member.startswith("_") and (inspect.isfunction(inner) or isinstance(inner, property)):
                yield f"{name}.{member}", inner


@pytest.mark.parametrize(("name", "value"), [pytest.param(*found, id=found[0]) for found in public()])
def test_every_public_docstring_has_an_example(name: str, value: Any) -> None:
    """What it means first, then how it is used."""
    text = inspect.getdoc(value.fget if isinstance(value, property) else value) or ""
    meaning, _, example = text.partition(">>> ")

    assert meaning.strip()
    assert example


@pytest.mark.parametrize("file", WITH_EXAMPLES, ids=lambda f: f.relative_to(PACKAGE).as_posix())
def test_the_examples_run(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each docstring by itself, where `fixtures` lies as in a checkout; nothing is written into the checkout."""
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    monkeypatch.chdir(tmp_path)
    parts = file.relative_to(ROOT).with_suffix("").parts
    module = importlib.import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    tests = [test for test in doctest.DocTestFinder().find(module) if test.examples]
    told: list[str] = []
    for test in tests:
        doctest.DocTestRunner(optionflags=OPTIONS, verbose=False).run(test, out=told.append)

    assert "".join(told) == ""
    assert sum(len(test.examples) for test in tests) == len(
        [
            1
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
            if _is_docstring(node)
            for _ in _examples(node)
        ]
    )


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module)) and bool(ast.get_docstring(node))


def _examples(node: ast.AST) -> list[doctest.Example]:
    return doctest.DocTestParser().get_examples(ast.get_docstring(node) or "")  # type: ignore[arg-type]
