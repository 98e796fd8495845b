"""Shared by commands: exit codes, options, and the output of text."""

import os
import shutil
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from loganalyst.cli.streams import ReaderGoneError
from loganalyst.errors import LogAnalystError
from loganalyst.visibletext import clean
from loganalyst.writing import write_whole

NOTHING, FOUND, USAGE, INTERNAL, INTERRUPTED = 0, 1, 2, 3, 130
# exit codes of `diagnose --exit-restart`, by the verdict
OF_RESTART = {"restart": 10, "restart_elsewhere": 11, "do_not_restart": 12, "unknown": 13}
MAX_COMPLAINT = 600  # characters of a line on stderr: a message may quote a whole file
MAX_PATH = 4096  # characters of a path that are shown
SIGNS = "▁█✓✗→·…"  # if stdout cannot encode these, reports are in ASCII

ConfigFile = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Settings file (default: loganalyst.yaml above the run)."),
]
TrustRuns = Annotated[
    bool, typer.Option("--trust-run-settings", help="Also obey a loganalyst.yaml that came with a run.")
]
RulesDirs = Annotated[list[Path], typer.Option("--rules", metavar="DIR", help="Folder with your own rules.")]
Jobs = Annotated[
    int | None, typer.Option("--jobs", min=1, metavar="N", help="Number of processes (default: one per processor).")
]
Seconds = Annotated[float, typer.Option("--seconds", min=1, metavar="N", help="Time limit for one run, in seconds.")]
KeptStore = Annotated[
    Path | None,
    typer.Option("--store", metavar="DIR", help="Store what was read, so that the next time reads only changes."),
]
Output = Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write to FILE instead of stdout.")]
ExitZero = Annotated[bool, typer.Option("--exit-zero", help="Exit with 0 even if a cause is likely.")]
StoreDir = Annotated[Path, typer.Option("--store", metavar="DIR", help="Folder of the store.", show_default=False)]


def folders(words: str) -> Any:
    """The argument `DIR…` of a command, with its help text."""
    return typer.Argument(metavar="DIR", help=words, show_default=False, readable=False)


def layout(formats: type[StrEnum], text: str = "Output format.") -> Any:
    """The option `--format` of a command: one of `formats`."""
    return typer.Option("--format", metavar="|".join(formats), help=text)


def complain(text: str, code: int) -> int:
    """Print one line on stderr, or one per fault of a list. Returns `code`."""
    for line in f"loganalyst: {text}".splitlines():
        print(encoded(clean(line, MAX_COMPLAINT), sys.stderr), file=sys.stderr)
    return code


def finding_code(*, found: bool, read: bool, exit_zero: bool) -> int:
    """The exit code of a search: whether it found something, otherwise whether anything could be read."""
    if found:
        return NOTHING if exit_zero else FOUND
    return NOTHING if read else USAGE


@contextmanager
def within(seconds: float | None) -> Iterator[None]:
    """Limit the time of the block; LogAnalystError when it is over. No limit for None, or on systems without alarms."""
    if seconds is None or not hasattr(signal, "setitimer"):
        yield
        return

    def ring(*_: object) -> None:
        raise LogAnalystError("the analysis", f"did not end within {seconds:g} s", "max_analysis_time sets this limit")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def screen() -> dict[str, Any]:
    """Width, colour and character set of stdout, as options for the terminal renderers."""
    terminal = sys.stdout.isatty()
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return {
        "width": shutil.get_terminal_size((100, 24)).columns if terminal else 100,
        "colour": terminal and not plain,
        "ascii_only": encoded(SIGNS, sys.stdout) != SIGNS,
    }


def encoded(text: str, stream: TextIO) -> str:
    """`text` with the characters replaced that the stream cannot encode."""
    encoding = stream.encoding or "ascii"
    return text.encode(encoding, "replace").decode(encoding)


def emit(text: str, output: Path | None = None) -> None:
    """Write a report to `output` or stdout. A closed pipe is not an error."""
    if output is not None:
        write_whole(output, text)
        return
    with suppress(ReaderGoneError):
        sys.stdout.write(encoded(text, sys.stdout))
        sys.stdout.flush()


def refuse(targets: Iterable[Path | None], paths: Iterable[Path], **options: Any) -> None:
    """Raise LogAnalystError if one of the `targets` belongs to a run named by `paths`.

    `options` are those of `guard.named`. Without targets, nothing is looked at.
    """
    targets = [target for target in targets if target is not None]
    if targets:
        from loganalyst import guard

        guard.check(targets, guard.named(paths, **options))
