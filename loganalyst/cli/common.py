"""What commands share: exit codes, options, and how text leaves the program."""

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
from loganalyst.writing import write_whole

NOTHING, FOUND, USAGE, INTERNAL, INTERRUPTED = 0, 1, 2, 3, 130
LONGEST_COMPLAINT = 600  # characters of a line on stderr: what was found may be a whole file
PATH = 4096  # characters of a path that are shown
SIGNS = "▁█✓✗→·…"  # where stdout cannot carry these, reports are drawn in ASCII

ConfigFile = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Corrections (default: loganalyst.yaml above the run)."),
]
TrustRuns = Annotated[
    bool, typer.Option("--trust-run-settings", help="Obey a loganalyst.yaml that came with a run, too.")
]
RulesDirs = Annotated[list[Path], typer.Option("--rules", metavar="DIR", help="A folder with rules of your own.")]
Jobs = Annotated[int | None, typer.Option("--jobs", min=1, metavar="N", help="Processes (default: one a processor).")]
Seconds = Annotated[
    float, typer.Option("--seconds", min=1, metavar="N", help="What one run may take before it is given up.")
]
KeptStore = Annotated[
    Path | None,
    typer.Option("--store", metavar="DIR", help="Remember what was read: the next time only changes are."),
]
Output = Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write it to FILE, not to stdout.")]
ExitZero = Annotated[bool, typer.Option("--exit-zero", help="Exit with 0 although a cause is likely.")]
StoreDir = Annotated[Path, typer.Option("--store", metavar="DIR", help="The store's folder.", show_default=False)]


def folders(words: str) -> Any:
    """The argument `DIR…` of a command, in its words."""
    return typer.Argument(metavar="DIR", help=words, show_default=False, readable=False)


def layout(formats: type[StrEnum], what: str) -> Any:
    """The option `--format` of a command: one of `formats`, for `what` it writes."""
    return typer.Option("--format", metavar="|".join(formats), help=f"How {what} laid out.")


def complain(text: str, code: int) -> int:
    """One line on stderr (a list of faults has one each); `code` is handed back."""
    from loganalyst.report.common.wording import clean

    for line in f"loganalyst: {text}".splitlines():
        print(encoded(clean(line, LONGEST_COMPLAINT), sys.stderr), file=sys.stderr)
    return code


@contextmanager
def within(seconds: float | None) -> Iterator[None]:
    """Let what stands inside take no longer than that; LogAnalystError where it does (None, or no alarms: no limit)."""
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
    """Width, colour and character set of stdout, as the terminal renderers take them."""
    terminal = sys.stdout.isatty()
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return {
        "width": shutil.get_terminal_size((100, 24)).columns if terminal else 100,
        "colour": terminal and not plain,
        "ascii_only": encoded(SIGNS, sys.stdout) != SIGNS,
    }


def encoded(text: str, stream: TextIO) -> str:
    """`text` with what the stream cannot carry replaced."""
    encoding = stream.encoding or "ascii"
    return text.encode(encoding, "replace").decode(encoding)


def emit(text: str, output: Path | None = None) -> None:
    """Write a report to `output` or stdout. A reader of stdout that has gone away is no error."""
    if output is not None:
        write_whole(output, text)
        return
    with suppress(ReaderGoneError):
        sys.stdout.write(encoded(text, sys.stdout))
        sys.stdout.flush()


def refuse(targets: Iterable[Path | None], paths: Iterable[Path], **options: Any) -> None:
    """Raise LogAnalystError where one of the files to write belongs to what `paths` name; with the `options` of
    `guard.named`. Where nothing is to be written, nothing is looked at.
    """
    targets = [target for target in targets if target is not None]
    if targets:
        from loganalyst import guard

        guard.check(targets, guard.named(paths, **options))
