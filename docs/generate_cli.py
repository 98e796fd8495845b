"""Writes docs/cli.md from the help texts: `python docs/generate_cli.py`. A test checks that it is current."""

import sys
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from typing import Any

import typer

from loganalyst.cli import complete
from loganalyst.cli.help import SECTIONS

PAGE = Path(__file__).parent / "cli.md"
INTRODUCTION = """\
# The command line

`python docs/generate_cli.py` generates this page from the help texts. Change those, not this page.

| exit code | meaning |
|---|---|
| 0 | nothing found: healthy, cause unknown, or not enough data |
| 1 | a cause is likely (`--exit-zero` makes it 0) |
| 2 | wrong usage, an input that cannot be read, or an output that cannot be written (a full disk, a closed stdout) |
| 3 | an internal error; `LOGANALYST_DEBUG=1` shows its traceback |
| 10 to 13 | with `diagnose --exit-restart`: the [verdict on a restart](restart.md) |
| 130 | Ctrl-C |

Reports go to stdout, everything else to stderr. Colours appear only on a terminal (`NO_COLOR` turns them off). A pipe
gets plain text, 100 columns wide. If stdout cannot encode the characters of curves, they are drawn in ASCII. A reader
of stdout that closes the pipe early, such as `head`, does not change the exit code. The exception is `scan`, which
exits with 2 and reports its findings again the next time.

## What is never written to

No command writes into a run. Every option that writes (`-o`, `--plot`, `--store`, `--reports`, `--prometheus`) and the
Python API check the target before the analysis. They refuse it, with exit code 2, if it

- is inside the folder of a run that was named or found, or a link leads there;
- is an input file: of the run, a job log or settings that belong to it, a checkpoint, or a `--config` or `--context`
  file, under any name (hard links too);
- is inside a folder that a logger marked as a run (event files, `.wandb`, MLflow, Hydra, `version_N`), named or not;
- exists, and its name shows that a training wrote it (event files, checkpoints, databases).

```text
$ loganalyst diagnose 7 -o 7/new.md
loganalyst: 7/new.md: lies inside the run /runs/7; nothing is written there; allowed is a place outside: /runs/new.md
```

Files next to a run are allowed, also in the folder of many runs (`audit runs/ -o runs/report.html`), and next to a run
that is a single file. Devices and pipes (`-o /dev/stdout`) are always allowed.

Two files are written without an option: `loganalyst diagnose` keeps its compiled search for log lines, and in a
checkout its compiled rules, in `$XDG_CACHE_HOME/loganalyst` or `~/.cache/loganalyst`, if that folder lies in no run.

An output file is complete or absent: it is written under another name, flushed to the disk, and renamed. A full disk or
Ctrl-C leaves the old file unchanged. CSV is safe to open: a cell that a spreadsheet would run (`=cmd()`) gets an
apostrophe before it, numbers stay numbers, and control characters are written as `\\x1b`.

## Shell completion

Your shell can complete commands, options and their values, and files everywhere else. Run the lines of your shell once.
They hold for every shell that you open afterwards. `loganalyst` must be on your `PATH`.

```text
# bash, with the package bash-completion; without it, source the file in ~/.bashrc
mkdir -p ~/.local/share/bash-completion/completions
_LOGANALYST_COMPLETE=source_bash loganalyst > ~/.local/share/bash-completion/completions/loganalyst

# zsh, where ~/.zshrc has `fpath+=~/.zfunc` before `compinit`
mkdir -p ~/.zfunc && _LOGANALYST_COMPLETE=source_zsh loganalyst > ~/.zfunc/_loganalyst

# fish
_LOGANALYST_COMPLETE=source_fish loganalyst > ~/.config/fish/completions/loganalyst.fish
```

## Commands
"""


def page() -> str:
    """The whole page: all commands by section, then each of them."""
    group = typer.main.get_command(complete())
    return "\n".join([INTRODUCTION, _overview(group), *_commands(group, ["loganalyst"])])


def _overview(group: Any) -> str:
    """What each command is for, by section."""
    rows = []
    for section in SECTIONS:
        members = [(name, c) for name, c in sorted(group.commands.items()) if c.rich_help_panel == section]
        for place, (name, command) in enumerate(members):
            first = cleandoc(command.help).split("\n\n")[0]
            anchor = f"loganalyst-{name}" + (f"-{min(command.commands)}" if hasattr(command, "commands") else "")
            rows.append(f"| {'' if place else section} | [`{name}`](#{anchor}) | {first} |")
    return "\n".join(["| | command | what it does |", "|---|---|---|", *rows, ""])


def _commands(command: Any, words: list[str]) -> Iterator[str]:
    """The part of a command, or those of a group's commands."""
    members = getattr(command, "commands", None)
    if members is None:
        yield _part(command, words)
    for name, member in sorted((members or {}).items()):  # tests register them in any order
        yield from _commands(member, [*words, name])


def _part(command: Any, words: list[str]) -> str:
    """Usage, help, examples and parameters, from the command itself: typer's own layout differs by version."""
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    usage = " ".join([*words, "[OPTIONS]", *(_name(p) for p in arguments)])
    examples = [line.strip() for line in command.epilog.splitlines() if line.startswith("  ")]
    rows = [f"| `{_cell(_name(p))}` | {_cell(p.help)}{_default(p)} |" for p in command.params if p.help]
    blocks = [
        f"### {' '.join(words)}",
        f"```text\n{usage}\n```",
        cleandoc(command.help),
        "\n".join(["```text", *examples, "```"]),
        "\n".join(["| parameter | meaning |", "|---|---|", *rows]) if rows else "",
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _name(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        name = parameter.metavar.strip("[]") + ("..." if parameter.nargs == -1 else "")
        return name if parameter.required else f"[{name}]"
    return ", ".join(parameter.opts) + (f" {parameter.metavar}" if parameter.metavar else "")


def _cell(text: str) -> str:
    """A text that ends no cell of a table."""
    return text.replace("|", "\\|")


def _default(parameter: Any) -> str:
    if getattr(parameter, "multiple", False):
        return " May be repeated."
    shown = isinstance(parameter.default, (str, int)) and not isinstance(parameter.default, bool)
    return f" Default: {parameter.default}." if shown and parameter.default != "" else ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE}\n")
