"""`loganalyst mcp`."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from loganalyst.cli.app import app
from loganalyst.cli.streams import StreamError
from loganalyst.errors import LogAnalystError


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
        raise LogAnalystError("loganalyst mcp", "needs the package mcp", "pip install 'loganalyst[mcp]'")
    from loganalyst.mcp.server import serve

    fault: OSError | None = None
    try:
        serve(store)
    except* BrokenPipeError:
        pass  # the client has gone
    except* OSError as faults:
        fault = next((error for error in faults.exceptions if isinstance(error, OSError)), OSError())
    if fault is not None:
        raise StreamError("stdout", f"cannot be written ({fault.strerror})", "the client hears no more")
