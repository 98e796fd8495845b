"""The command line: parse, make one call of the API, render. Reports go to stdout, everything else to stderr.

Exit codes: 0 nothing found; 1 a cause is likely; 2 wrong usage, nothing readable, or an output that cannot be written;
3 an internal error; 130 interrupted.
Each command is a file in this folder, found by scanning, that registers the command of its name. A call imports only
the command that it names, or all of them to list them. Only typer and the standard library are imported at the top,
because `loganalyst --help` must be quick.
"""

import atexit
import gc
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, NoReturn

import typer

from loganalyst.cli.app import app as _app
from loganalyst.cli.common import INTERNAL, INTERRUPTED, NOTHING, USAGE, complain
from loganalyst.cli.streams import ReaderGoneError, guarded, reopen_closed
from loganalyst.errors import LogAnalystError

__all__ = ["complete", "main", "program"]

_NO_COMMANDS = {"__main__", "app", "common", "help", "streams", "values"}  # the other files of this folder
# Thresholds of the garbage collector. A run makes millions of objects and hardly any cycle: Python's default of 700
# costs a fourth of the time for 30,000 metric names. A small run makes fewer than 300,000, and one look at 100,000
# takes 30 ms. A program that imports the package keeps its own thresholds.
GC_THRESHOLDS = (300_000, 50, 100)
USAGE_ERROR: Any = typer.BadParameter.__bases__[0]  # click's UsageError, wherever typer keeps it


def complete() -> typer.Typer:
    """The program with all its commands."""
    for name in sorted(_commands()):
        import_module(f"{__name__}.{name}")  # which registers its command
    return _app


def _commands() -> set[str]:
    return {module.name for module in iter_modules(__path__)} - _NO_COMMANDS


def _named(arguments: Sequence[str]) -> typer.Typer:
    """The program with the command that the arguments begin with; with all commands if they begin with none."""
    if not arguments or arguments[0] not in _commands():
        return complete()
    import_module(f"{__name__}.{arguments[0]}")
    return _app


def program() -> NoReturn:
    """`main` as a process that exits at once: Python's own teardown of modules takes a fifth of a second."""
    reopen_closed()
    gc.set_threshold(*GC_THRESHOLDS)
    code = 0
    try:
        main()
    except SystemExit as done:
        code = int(done.code or 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process is about to exit
    atexit._run_exitfuncs()  # as Python does at exit; there is no public function for it
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # the stream may be closed
            stream.flush()
    os._exit(code)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code."""
    with guarded():
        code = _answered(arguments)
    sys.exit(code)


def _answered(arguments: Sequence[str] | None) -> int:
    """The exit code of a command. An error prints one line on stderr."""
    try:
        named = _named(sys.argv[1:] if arguments is None else arguments)
        code = int(named(arguments, prog_name="loganalyst", standalone_mode=False) or NOTHING)
        with suppress(ReaderGoneError):  # what was found does not depend on who reads it
            sys.stdout.flush()
        if code == INTERRUPTED:  # newer versions of typer return this on Ctrl-C
            raise KeyboardInterrupt
    except ReaderGoneError:
        code = NOTHING
    except LogAnalystError as error:
        code = complain(str(error), USAGE)
    except USAGE_ERROR as error:
        error.show()
        code = USAGE
    except (typer.Abort, KeyboardInterrupt):
        code = complain("interrupted", INTERRUPTED)
    except SystemExit as stop:
        code = int(stop.code or NOTHING)
    except BaseException as error:  # the one place that turns a bug into an exit code, and polars' panics
        if os.environ.get("LOGANALYST_DEBUG"):
            traceback.print_exc()
        text = f"{type(error).__name__}: {error}"
        code = complain(f"internal error: {text}; LOGANALYST_DEBUG=1 shows the traceback", INTERNAL)
    return code
