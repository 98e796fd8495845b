"""The program itself: its name, its help, `--version`. A command registers itself here, by `command`."""

import os
from collections.abc import Callable
from typing import Annotated, Any

import typer

from loganalyst.cli.help import Command, Group, examples

ASKED_BY_A_SHELL = "_LOGANALYST_COMPLETE"  # set by a shell that completes a line; docs/cli.md says how to set it up
COMPLETION = f"""

\b
Shell completion (or source_zsh, source_fish):
  eval "$({ASKED_BY_A_SHELL}=source_bash loganalyst)"
"""

app = typer.Typer(
    cls=Group,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=ASKED_BY_A_SHELL in os.environ,  # its two options would crowd the help
    no_args_is_help=True,
    help="Say what went wrong in a training run, from the logs it left behind.",
    epilog=examples("loganalyst diagnose runs/exp42", "loganalyst COMMAND --help") + COMPLETION,
)


def command(section: str, *lines: str, name: str | None = None, of: typer.Typer = app) -> Callable[..., Any]:
    """Register a function as a command, under one of `help.SECTIONS`, with examples of its use."""
    return of.command(name, cls=Command, rich_help_panel=section, epilog=examples(*lines))


def _print_version(wanted: bool) -> None:
    if wanted:
        from loganalyst import __version__  # looked up only here: that takes 30 ms

        print(f"loganalyst {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Options of the program itself."""
