"""Values of options: as typer converts them, and without pydantic where they are plain."""

import subprocess
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer

from loganalyst.cli.values import plainly

PLAIN = [
    [], ["a"], ["a", "b/c"], ["a", "--name", ""], ["--name", "é", "--many", "x", "--many", "y"], ["--kind", "two"],
    ["--flag"], ["--old", __file__], ["--number", "3"], ["--number", "x"], ["--number", "9"], ["--kind", "three"],
    ["--old", "/nowhere/at/all"], ["--old", "a\0b"], ["--needed"], ["--here", "/nowhere"], ["--kind", "TWO"],
]  # fmt: skip


class Kind(StrEnum):
    """Names that differ from the members'."""

    ONE = "one"
    OTHER = "two"


def called(arguments: list[str], plain: bool) -> tuple[Any, str]:
    """What a command is called with, and the message if it is refused."""
    app, seen = typer.Typer(add_completion=False, rich_markup_mode=None), []

    class Command(typer.core.TyperCommand):
        def get_params(self, ctx: Any) -> list[Any]:
            return [plainly(p) if plain else p for p in super().get_params(ctx)]

    @app.command(cls=Command)
    def command(
        paths: Annotated[list[Path], typer.Argument(readable=False)] = [],  # noqa: B006
        name: str = "none",
        many: list[str] = [],  # noqa: B006
        kind: Kind | None = None,
        flag: Annotated[bool, typer.Option("--flag")] = False,
        old: Path | None = None,
        here: Annotated[Path | None, typer.Option(exists=True)] = None,
        number: Annotated[int, typer.Option(max=5)] = 5,
    ) -> None:
        seen.append((paths, name, many, kind, flag, old, here, number))

    try:
        app(arguments, standalone_mode=False)
    except Exception as error:  # whichever it is, it must be the same
        return seen, f"{type(error).__name__}: {error}"
    return seen, ""


@pytest.mark.parametrize("arguments", PLAIN, ids=" ".join)
def test_values_are_those_of_typer(arguments: list[str]) -> None:
    """Of the same types, and refused with the same words."""
    expected, why = called(arguments, plain=False)
    found, said = called(arguments, plain=True)

    assert (found, said) == (expected, why)
    assert [list(map(type, row)) for row in found] == [list(map(type, row)) for row in expected]


@pytest.mark.parametrize("command", ["diagnose x --format json --symptom y", "show x", "rules list", "--version"])
def test_a_plain_command_does_not_load_pydantic(command: str) -> None:
    code = f"""
import atexit, sys
atexit.register(lambda: print("pydantic" in sys.modules))
from loganalyst.cli import main
main({command.split()!r})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.stdout.endswith("False\n")
