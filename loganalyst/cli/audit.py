"""`loganalyst audit`."""

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loganalyst.cli.app import command
from loganalyst.cli.common import (
    USAGE,
    ExitZero,
    Jobs,
    KeptStore,
    Output,
    Seconds,
    TrustRuns,
    complain,
    emit,
    finding_code,
    folders,
    layout,
    screen,
)
from loganalyst.errors import LogAnalystError
from loganalyst.limits import MAX_RUN_SECONDS

if TYPE_CHECKING:
    from loganalyst.auditing.batch import Audit


class AuditFormat(StrEnum):
    """Output formats of an audit."""

    TERMINAL = "terminal"
    JSON = "json"
    CSV = "csv"
    HTML = "html"


@command(
    "Many runs",
    "loganalyst audit experiments/",
    "loganalyst audit experiments/ --store store/ --format html -o audit.html",
)
def audit(
    paths: Annotated[list[Path], folders("Folders of runs, or runs.")],
    *,
    store: KeptStore = None,
    jobs: Jobs = None,
    seconds: Seconds = MAX_RUN_SECONDS,
    scheduler: Annotated[
        str | None,
        typer.Option("--scheduler", metavar="ADDRESS", help="Run on the workers of this dask scheduler."),
    ] = None,
    trust_run_settings: TrustRuns = False,
    slurm: Annotated[bool, typer.Option("--slurm", help="Run as N SLURM jobs (--jobs N).")] = False,
    full: Annotated[bool, typer.Option("--full", help="Diagnose unchanged runs again.")] = False,
    format_: Annotated[AuditFormat, layout(AuditFormat)] = AuditFormat.TERMINAL,
    output: Output = None,
    reports: Annotated[
        Path | None,
        typer.Option(
            "--reports",
            metavar="DIR",
            help="Write an HTML report for each failed or unhealthy run; the HTML page links to it.",
        ),
    ] = None,
    top: Annotated[int, typer.Option("--top", min=1, metavar="N", help="Show the N worst runs in the terminal.")] = 30,
    exit_zero: ExitZero = False,
) -> None:
    """Diagnose every run in some folders.

    Lists the worst runs first, and groups runs that failed alike. Exits with 1 if a cause is likely in any run, 2 if
    nothing could be read.
    """
    from loganalyst.auditing.batch import audit as batch
    from loganalyst.progressbar import Bar

    if scheduler and (slurm or jobs):
        raise LogAnalystError("--scheduler", "has its own workers", "leave out --slurm and --jobs")
    options: dict[str, Any] = {"jobs": jobs, "seconds": seconds, "scheduler": scheduler, "slurm": slurm, "full": full}
    options["trust_run_settings"] = trust_run_settings
    bar = Bar()
    try:
        found = batch(paths, store, **options, reports=reports, writes=[output], watch=bar.outcome)
    finally:
        bar.clear()
    for fault in found.faults:
        complain(fault, USAGE)
    emit(_report(found, format_, top, output), output)
    read = (found.runs["status"] != "unreadable").any()
    raise typer.Exit(finding_code(found=found.likely, read=bool(read), exit_zero=exit_zero))


def _report(found: "Audit", format_: AuditFormat, top: int, output: Path | None) -> str:
    from loganalyst.report.audit import screen as report

    if format_ is AuditFormat.JSON:
        return (
            json.dumps(
                report.data(found.runs, found.groups, found.contrasts, found.accounts, found.copies),
                indent=2,
                allow_nan=False,
            )
            + "\n"
        )
    if format_ is AuditFormat.CSV:
        from loganalyst.report.common import csvtext

        return csvtext.render(found.runs)
    if format_ is AuditFormat.HTML:
        from loganalyst.report import audit as auditpage

        home = output.parent if output else None
        return auditpage.render(found.runs, found.groups, found.contrasts, found.nodes, home, copies=found.copies)
    shown: dict[str, Any] = {} if output else screen()
    return report.render(found.runs, found.groups, found.contrasts, found.accounts, found.copies, top=top, **shown)
