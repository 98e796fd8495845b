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
| 2 | wrong usage, something named could not be read, or the output not be written (a full disk, a closed stdout) |
| 3 | an internal error; `LOGANALYST_DEBUG=1` shows its traceback |
| 130 | interrupted by Ctrl-C |

Reports go to stdout, everything else to stderr. Colours appear on a terminal only (`NO_COLOR` turns them off); a pipe
gets plain text 100 columns wide, and a stdout that cannot carry the signs of the curves gets ASCII. A reader of stdout
that goes away early, such as `head`, changes no exit code; `scan` alone exits with 2, and tells its findings again.

## What is never written to

No command writes into a run. Every option that writes (`-o`, `--plot`, `--store`, `--reports`, `--prometheus`) and the
Python API refuse a target before anything is analysed, with exit code 2, where it

- lies inside the folder of a run that was named or found, or leads there by a link;
- is a file that is read: of the run, a job log or settings that belong to it, a checkpoint, a `--config` or `--context`
  file, under whatever name (hard links too);
- lies inside a folder that a logger marked as a run (event files, `.wandb`, MLflow, Hydra, `version_N`), named or not;
- exists, and by its name a training wrote it (event files, checkpoints, databases).

```text
$ loganalyst diagnose 7 -o 7/new.md
loganalyst: 7/new.md: lies inside the run /runs/7; nothing is written there; allowed is a place outside: /runs/new.md
```

Allowed are files beside a run, also in the folder of many runs (`audit runs/ -o runs/report.html`) and beside a run
that is a single file. Devices and pipes (`-o /dev/stdout`) are always allowed.

A file that is written is complete or absent: it is written beside its place, to the disk, and renamed. A full disk or
Ctrl-C leaves the old file as it was. CSV is safe to open: a cell that a spreadsheet would run (`=cmd()`) gets an
apostrophe before it, numbers stay numbers, and control characters are written as `\\x1b`.
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
