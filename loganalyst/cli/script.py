"""`loganalyst script`."""

from pathlib import Path
from typing import Annotated

import typer

from loganalyst.cli.app import command
from loganalyst.cli.common import emit, refuse
from loganalyst.errors import LogAnalystError, nearest
from loganalyst.writing import write_new


@command("What it knows", "loganalyst script", "loganalyst script gradient_norms -o gradient_norms.py")
def script(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="Name of a script. Without it, all scripts are listed.", show_default=False
        ),
    ] = None,
    *,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write to FILE, which must not exist, instead of stdout."),
    ] = None,
) -> None:
    """Print a small diagnostic script for your own training.

    A script needs only torch and prints a table. The text at its top explains how to call it, and which values are
    suspicious.
    """
    from loganalyst.scripts import summary, templates

    found = templates()
    if name is None and output is not None:
        raise typer.BadParameter("-o needs the NAME of a script")
    if name is None:
        width = max(map(len, found))
        emit("".join(f"{known:<{width}}  {summary(text)}\n" for known, text in found.items()))
        return
    if name not in found:
        raise LogAnalystError(name, "no such script", nearest(name, found) or f"there are {', '.join(found)}")
    if output is None:
        emit(found[name])
        return
    refuse([output], [])
    try:
        write_new(output, found[name])
    except FileExistsError:
        raise LogAnalystError(output, "exists already", "a script never replaces a file") from None
