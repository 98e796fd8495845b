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
        typer.Option(
            "--store", metavar="DIR", help="Store for audits, so that later ones read only changes (default: none)."
        ),
    ] = None,
) -> None:
    """Serve coding agents over stdin and stdout.

    An agent starts this command and uses the Model Context Protocol. The tools are diagnose, audit, compare,
    check, show, explain, verify, inspect, script and query. Nothing is written into a run.
    """
    if find_spec("mcp") is None:
        raise LogAnalystError("loganalyst mcp", "needs the package mcp", how_to_install("mcp"))
    from loganalyst.mcp.server import serve

    fault: OSError | None = None
    try:
        serve(store)
    except* BrokenPipeError:
        pass  # the client has closed the connection
    except* OSError as faults:
        fault = next((error for error in faults.exceptions if isinstance(error, OSError)), OSError())
    if fault is not None:
        raise StreamError("stdout", f"cannot be written ({fault.strerror})", "the client gets no more answers")
