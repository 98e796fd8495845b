"""What `--help` says: every command under its section, in lines that are whole, with examples that are right."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from typing import Any

import pytest
import typer

from loganalyst.cli import complete
from loganalyst.cli.help import SECTIONS
from tests.commandline import called

ROOT: Any = typer.main.get_command(complete())
BASH = shutil.which("bash")


def commands(group: Any = ROOT, *words: str) -> Iterator[tuple[str, Any]]:
    """Every command that does something, by the words that call it."""
    for name, member in group.commands.items():
        if hasattr(member, "commands"):
            yield from commands(member, *words, name)
        else:
            yield " ".join([*words, name]), member


COMMANDS = dict(commands())


def examples(command: Any) -> list[str]:
    """The lines of its epilog that call the program."""
    return [line.strip() for line in command.epilog.splitlines() if line.strip().startswith("loganalyst ")]


def test_every_command_stands_in_a_section(monkeypatch: pytest.MonkeyPatch) -> None:
    """And its first sentence stands beside it, whole, on one line of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    shown = called("--help").out.splitlines()

    assert {command.rich_help_panel for command in ROOT.commands.values()} == set(SECTIONS)
    assert [f"{section}:" in shown for section in SECTIONS] == [True] * len(SECTIONS)
    for name, command in ROOT.commands.items():
        first = cleandoc(command.help).split("\n\n")[0]
        assert [line.split(maxsplit=1) for line in shown if line.startswith(f"  {name} ")] == [[name, first]]


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_has_examples_that_are_right(words: str) -> None:
    """Each calls this command, parses, and fits a line of 80 columns; help shows it as it is."""
    command = COMMANDS[words]
    lines = examples(command)

    assert lines
    assert all(f"    {line}\n" in called(*words.split(), "--help").out for line in lines)
    for line in lines:
        assert len(line) <= 76
        assert shlex.split(line)[1 : 1 + len(words.split())] == words.split()
        command.make_context(
            words, shlex.split(line)[1 + len(words.split()) :]
        )  # raises a usage error where it is wrong


@pytest.mark.parametrize("words", COMMANDS)
def test_help_names_no_type_of_python(words: str) -> None:
    """`PATH <list[Path]>` says nothing to a user."""
    assert re.findall(r"<\w+", called(*words.split(), "--help").out) == []


@pytest.mark.skipif(BASH is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("loganalyst dia", ["diagnose"]),
        ("loganalyst rules e", ["explain"]),
        ("loganalyst diagnose --sym", ["--symptom"]),
        ("loganalyst diagnose --format ", ["terminal", "markdown", "json", "html", "sarif"]),
        ("loganalyst diagnose runs/", []),  # then bash offers files
    ],
)
def test_bash_completes(line: str, offered: list[str], tmp_path: Path) -> None:
    """What docs/cli.md tells to do makes bash complete commands, options and their values."""
    program = tmp_path / "loganalyst"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m loganalyst.cli "$@"\n')
    program.chmod(0o755)
    script = subprocess.run(
        [program], env={**os.environ, "_LOGANALYST_COMPLETE": "source_bash"}, capture_output=True, check=True
    )
    words = line.split(" ")
    press_tab = f"""{script.stdout.decode()}
        COMP_WORDS=({" ".join(shlex.quote(w) for w in words)}) COMP_CWORD={len(words) - 1}
        eval "$(complete -p loganalyst | sed 's/.*-F \\([^ ]*\\) .*/\\1/') {program}"
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run([str(BASH), "--norc", "-c", press_tab], capture_output=True, text=True, check=True)

    assert done.stderr == ""
    assert done.stdout.split() == offered


def test_help_is_free_of_the_options_of_completion() -> None:
    """They are there only while a shell asks; what to type is told instead."""
    shown = called("--help").out

    assert "--install-completion" not in shown
    assert 'eval "$(_LOGANALYST_COMPLETE=source_bash loganalyst)"' in shown
