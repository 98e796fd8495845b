"""`loganalyst mcp`."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from loganalyst.cli.app import app
from loganalyst.errors import LogAnalystError, how_to_install


@app.command()
def mcp(
    store: Annotated[
        Path | None,
        typer.Option("--store", metavar="DIR", help="Where audits remember what they read (default: nowhere)."),
    ] = None,
) -> None:
    """Serve coding agents: diagnose, audit, show, explain, verify, inspect and script as tools.

    Over stdin and stdout, by the Model Context Protocol; an agent starts it. It reads only.
    """
    if find_spec("mcp") is None:
        raise LogAnalystError("loganalyst mcp", "needs the package mcp", how_to_install("mcp"))
    from loganalyst.mcp.server import serve

    serve(store)
