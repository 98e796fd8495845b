"""`loganalyst compare`."""

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loganalyst.cli.app import command
from loganalyst.cli.common import (
    FOUND,
    NOTHING,
    USAGE,
    Jobs,
    KeptStore,
    Output,
    Seconds,
    TrustRuns,
    complain,
    emit,
    folders,
    layout,
    screen,
)
from loganalyst.limits import MAX_RUN_SECONDS

if TYPE_CHECKING:
    from loganalyst.comparing.comparisonresult import Comparison


class CompareFormat(StrEnum):
    """Output formats of a comparison."""

    TERMINAL = "terminal"
    MARKDOWN = "markdown"
    JSON = "json"
    CSV = "csv"
    HTML = "html"


class Goal(StrEnum):
    """Whether low or high values of a metric are better."""

    MIN = "min"
    MAX = "max"


@command(
    "Many runs",
    "loganalyst compare sweep/ --metric val/loss --plot sweep.png",
    "loganalyst compare nightly-old/ nightly-new/",
)
def compare(
    paths: Annotated[list[Path], folders("Folders of runs. Two folders are compared as an old and a new set.")],
    *,
    metric: Annotated[
        str | None,
        typer.Option("--metric", metavar="NAME", help="Compare by this metric (default: a held-out loss or score)."),
    ] = None,
    goal: Annotated[
        Goal | None,
        typer.Option("--goal", metavar="min|max", help="Which values are better, if the name does not show it."),
    ] = None,
    store: KeptStore = None,
    jobs: Jobs = None,
    seconds: Seconds = MAX_RUN_SECONDS,
    trust_run_settings: TrustRuns = False,
    format_: Annotated[CompareFormat, layout(CompareFormat)] = CompareFormat.TERMINAL,
    output: Output = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Plot the comparison to FILE (.png, .svg or .pdf).")
    ] = None,
    top: Annotated[int, typer.Option("--top", min=1, metavar="N", help="Show the N best runs.")] = 5,
    exit_zero: Annotated[bool, typer.Option("--exit-zero", help="Exit with 0 even if a metric is worse.")] = False,
) -> None:
    """Compare many runs: which settings matter, and what to run next.

    Also shows the best runs, where runs fail, the effect of seeds, scaling laws and duplicates. For two folders, it
    shows which metrics got worse. Exits with 1 if a metric of the second folder is worse beyond noise, 2 if nothing
    could be read.
    """
    from loganalyst.comparing.wholecomparison import compare as whole
    from loganalyst.progressbar import Bar

    bar = Bar()
    try:
        found = whole(
            paths,
            store,
            metric=metric,
            goal=None if goal is None else goal.value,
            jobs=jobs,
            seconds=seconds,
            writes=[output, plot],
            trust_run_settings=trust_run_settings,
            watch=bar.outcome,
        )
    finally:
        bar.clear()
    for fault in found.faults:
        complain(fault, USAGE)
    emit(_report(found, format_, top, to_file=output is not None), output)
    if plot is not None:
        from loganalyst.report.comparison import plot as comparisonplot

        comparisonplot.save(found, plot)
    raise typer.Exit(USAGE if not found.runs.height else FOUND if found.worse and not exit_zero else NOTHING)


def _report(found: "Comparison", format_: CompareFormat, top: int, *, to_file: bool) -> str:
    from loganalyst.report.comparison import screen as report

    if format_ is CompareFormat.JSON:
        return json.dumps(report.data(found), indent=2, allow_nan=False) + "\n"
    if format_ is CompareFormat.CSV:
        from loganalyst.report.common import csvtext

        return csvtext.render(found.runs)
    if format_ is CompareFormat.HTML:
        from loganalyst.report import comparison

        return comparison.render(found, top=top)
    if format_ is CompareFormat.MARKDOWN:
        return report.render_markdown(found, top=top)
    return report.render(found, top=top, **({} if to_file else screen()))
