"""`loganalyst scan`."""

import sys
import time
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loganalyst.cli.app import command
from loganalyst.cli.common import USAGE, Jobs, Seconds, StoreDir, TrustRuns, complain, finding_code, folders, layout
from loganalyst.cli.streams import ReaderGoneError, StreamError
from loganalyst.errors import LogAnalystError
from loganalyst.limits import MAX_RUN_SECONDS

if TYPE_CHECKING:
    from loganalyst.auditing.batch import Audit
    from loganalyst.auditing.newfindings import Scan


class ScanFormat(StrEnum):
    """Output formats of findings."""

    JSONL = "jsonl"


class _Stdout:
    """Lines on stdout, where it is not known later whether they arrived."""

    def add(self, lines: Sequence[str]) -> None:
        """Write all lines at once."""
        try:
            sys.stdout.write("".join(f"{line}\n" for line in lines))
            sys.stdout.flush()
        except ReaderGoneError as error:
            raise StreamError(error.where, error.what, "the next scan reports these findings again") from None

    def written(self, ids: set[str]) -> set[str]:
        """None: stdout keeps no record."""
        return ids & set()


@command("Many runs", "loganalyst scan /scratch/logs --store store/ -o findings.jsonl")
def scan(
    paths: Annotated[list[Path], folders("Folders of runs and logs.")],
    *,
    store: StoreDir,
    format_: Annotated[ScanFormat, layout(ScanFormat)] = ScanFormat.JSONL,  # noqa: ARG001 (scripts name it)
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Append findings to FILE, each exactly once."),
    ] = None,
    prometheus: Annotated[
        Path | None,
        typer.Option(
            "--prometheus", metavar="FILE", help="Write metrics to FILE for the node exporter's textfile collector."
        ),
    ] = None,
    jobs: Jobs = None,
    seconds: Seconds = MAX_RUN_SECONDS,
    trust_run_settings: TrustRuns = False,
    exit_zero: Annotated[bool, typer.Option("--exit-zero", help="Exit with 0 even if there are new findings.")] = False,
) -> None:
    """Report only what is new since the last scan; for cron.

    Each finding is one line of JSON. Exits with 1 if there is a new finding, 2 if nothing could be read or another scan
    of the same store is running.
    """
    from loganalyst.auditing.findingsfile import FindingsFile
    from loganalyst.auditing.newfindings import scan as find

    began = time.monotonic()
    sink = FindingsFile(output) if output else _Stdout()
    try:
        found = find(
            paths,
            store,
            sink,
            jobs=jobs,
            seconds=seconds,
            writes=[output, prometheus],
            trust_run_settings=trust_run_settings,
        )
        if prometheus:
            _write_metrics(found, time.monotonic() - began, prometheus)
    except OSError as error:
        where = error.filename or output
        raise LogAnalystError(
            where, f"cannot be written ({error.strerror})", "name a file that you can write"
        ) from None
    _complain_of(found.audit)
    read = (found.audit.runs["status"] != "unreadable").any()
    raise typer.Exit(finding_code(found=bool(found.findings), read=bool(read), exit_zero=exit_zero))


def _write_metrics(found: "Scan", duration: float, file: Path) -> None:
    """What --prometheus asks for; `duration` of the scan in seconds."""
    from loganalyst.report.audit import prometheus as metrics

    metrics.save(metrics.render(found.audit.runs, found.audit.counts, len(found.findings), duration), file)


def _complain_of(audit: "Audit") -> None:
    """Faults of the audit, and the runs that could not be read."""
    for fault in audit.faults:
        complain(fault, USAGE)
    for run in audit.runs.filter(status="unreadable").iter_rows(named=True):
        complain(run["why"] or f"{run['path']}: could not be read", USAGE)
