"""Writes docs/cli.md from the help texts: `python docs/generate_cli.py`. A test checks that it is current."""

import sys
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from typing import Any

import typer

from loganalyst.cli import app

PAGE = Path(__file__).parent / "cli.md"
INTRODUCTION = """\
# The command line

Written by `python docs/generate_cli.py` from the help texts; change those, not this page.

| exit code | meaning |
|---|---|
| 0 | nothing found: healthy, cause unknown, or not enough data |
| 1 | a cause is likely (`--exit-zero` makes it 0) |
| 2 | wrong usage, or something named could not be read |
| 3 | an internal error; `LOGANALYST_DEBUG=1` shows its traceback |

Reports go to stdout, everything else to stderr. Colours appear on a terminal only (`NO_COLOR` turns them off); a pipe
gets plain text 100 columns wide, and a stdout that cannot carry the signs of the curves gets ASCII.
"""


def page() -> str:
    """The whole page."""
    return "\n".join([INTRODUCTION, *_commands(typer.main.get_command(app), ["loganalyst"])])


def _commands(command: Any, words: list[str]) -> Iterator[str]:
    """The section of a command, or those of a group's commands."""
    members = getattr(command, "commands", None)
    if members is None:
        yield _section(command, words)
    for name, member in (members or {}).items():
        yield from _commands(member, [*words, name])


def _section(command: Any, words: list[str]) -> str:
    """Usage, help and parameters, from the command itself: typer's own layout differs between its versions."""
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    usage = " ".join([*words, "[OPTIONS]", *(_name(p) for p in arguments)])
    rows = [f"| `{_name(p)}` | {p.help}{_default(p)} |" for p in command.params if p.help]
    table = "\n".join(["| parameter | meaning |", "|---|---|", *rows]) + "\n" if rows else ""
    return f"## {' '.join(words)}\n\n```text\n{usage}\n```\n\n{cleandoc(command.help)}\n" + (
        f"\n{table}" if table else ""
    )


def _name(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        name = parameter.metavar + ("..." if parameter.nargs == -1 else "")
        return name if parameter.required else f"[{name}]"
    value = (parameter.metavar or "").replace("|", "\\|")
    return ", ".join(parameter.opts) + (f" {value}" if value else "")


def _default(parameter: Any) -> str:
    if getattr(parameter, "multiple", False):
        return " May be repeated."
    shown = isinstance(parameter.default, (str, int)) and not isinstance(parameter.default, bool)
    return f" Default: {parameter.default}." if shown else ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE}\n")
