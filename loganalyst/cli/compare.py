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
    emit,
    folders,
    layout,
    screen,
)
from loganalyst.limits import MAX_RUN_SECONDS

if TYPE_CHECKING:
    from loganalyst.comparing.comparisonresult import Comparison


class CompareFormat(StrEnum):
    """How the comparison is laid out."""

    TERMINAL = "terminal"
    MARKDOWN = "markdown"
    JSON = "json"
    CSV = "csv"
    HTML = "html"


class Goal(StrEnum):
    """Which values of a metric are best."""

    MIN = "min"
    MAX = "max"


@command(
    "Many runs",
    "loganalyst compare sweep/ --metric val/loss --plot sweep.png",
    "loganalyst compare nightly-old/ nightly-new/",
)
def compare(
    paths: Annotated[list[Path], folders("Folders of runs; two: an old set and a new one.")],
    *,
    metric: Annotated[
        str | None,
        typer.Option("--metric", metavar="NAME", help="Compare by this metric (default: a held-out loss or score)."),
    ] = None,
    goal: Annotated[
        Goal | None, typer.Option("--goal", metavar="min|max", help="What is best, where the name does not tell.")
    ] = None,
    store: KeptStore = None,
    jobs: Jobs = None,
    seconds: Seconds = MAX_RUN_SECONDS,
    trust_run_settings: TrustRuns = False,
    format_: Annotated[CompareFormat, layout(CompareFormat, "it is")] = CompareFormat.TERMINAL,
    output: Output = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw it: a .png, .svg or .pdf outside of the runs.")
    ] = None,
    top: Annotated[int, typer.Option("--top", min=1, metavar="N", help="Show the N best runs.")] = 5,
    exit_zero: Annotated[bool, typer.Option("--exit-zero", help="Exit with 0 although a metric is worse.")] = False,
) -> None:
    """Compare many runs: which settings matter, and what to run next.

    Also which runs are best, where runs fail, whether seeds decide, scaling laws, duplicates; of two folders which
    metrics got worse. Exits with 1 if a metric of the second of two folders is worse beyond noise, 2 if nothing
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
