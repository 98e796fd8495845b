"""`loganalyst mcp`."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from loganalyst.cli.app import command
from loganalyst.cli.streams import StreamError
from loganalyst.errors import LogAnalystError, how_to_install


@command("For other programs", "loganalyst mcp --store store/")
def mcp(
    store: Annotated[
        Path | None,
        typer.Option("--store", metavar="DIR", help="Where audits remember what they read (default: nowhere)."),
    ] = None,
) -> None:
    """Serve coding agents over stdin and stdout.

    Its tools are diagnose, audit, show, explain, verify, inspect and script. An agent starts it, by the Model Context
    Protocol. It reads only.
    """
    if find_spec("mcp") is None:
        raise LogAnalystError("loganalyst mcp", "needs the package mcp", how_to_install("mcp"))
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
