"""The program itself: its name, its help, `--version`. A command registers itself here."""

from typing import Annotated

import typer

app = typer.Typer(
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    no_args_is_help=True,
    help="Say what went wrong in a training run, from the logs it left behind.",
)


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
