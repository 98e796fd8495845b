"""The program: its name, help and `--version`. Commands register themselves with `command`."""

import os
from collections.abc import Callable
from typing import Annotated, Any

import typer

from loganalyst.cli.help import Command, Group, examples

COMPLETION_VARIABLE = "_LOGANALYST_COMPLETE"  # set by a shell that completes a line; see docs/cli.md
COMPLETION = f"""

\b
Shell completion (or source_zsh, source_fish):
  eval "$({COMPLETION_VARIABLE}=source_bash loganalyst)"
"""

app = typer.Typer(
    cls=Group,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=COMPLETION_VARIABLE in os.environ,  # typer's two options would clutter the help
    no_args_is_help=True,
    help="Say what went wrong in a training run, from the logs it left behind.",
    epilog=examples("loganalyst diagnose runs/exp42", "loganalyst COMMAND --help") + COMPLETION,
)


def command(section: str, *lines: str, name: str | None = None, of: typer.Typer = app) -> Callable[..., Any]:
    """Register a function as a command under one of `help.SECTIONS`, with examples."""
    return of.command(name, cls=Command, rich_help_panel=section, epilog=examples(*lines))


def _print_version(wanted: bool) -> None:
    if wanted:
        from loganalyst import __version__  # the look-up takes 30 ms

        print(f"loganalyst {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Options of the program itself."""
