"""`loganalyst check`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from loganalyst.cli.app import command
from loganalyst.cli.common import FOUND, NOTHING, ConfigFile, Output, RulesDirs, TrustRuns, emit, layout, refuse, screen


class CheckFormat(StrEnum):
    """Output formats of a check."""

    TERMINAL = "terminal"
    MARKDOWN = "markdown"
    JSON = "json"


@command("One run", "loganalyst check config.yaml", "loganalyst check runs/exp42 --kind preference")
def check(
    path: Annotated[
        Path,
        typer.Argument(metavar="CONFIG|RUN", help="A file with settings, or a run.", show_default=False),
    ],
    *,
    kind: Annotated[
        str | None,
        typer.Option("--kind", metavar="KIND", help="Kind of training, if the settings do not show it."),
    ] = None,
    config: ConfigFile = None,
    rules: RulesDirs = [],  # noqa: B006
    trust_run_settings: TrustRuns = False,
    format_: Annotated[CheckFormat, layout(CheckFormat)] = CheckFormat.TERMINAL,
    output: Output = None,
) -> None:
    """Check the settings of a training, before or after the run.

    Compares learning rate, optimiser, schedule, sizes, adapters and more with the ranges of published practice, and
    names what cannot be right, what is unusual and what should be recorded. A setting that is not known is not judged.
    Exits with 1 if a setting cannot be right, 2 if nothing can be read, else 0.
    """
    from loganalyst import pipeline
    from loganalyst.report.check import markdown
    from loganalyst.report.check import screen as checked

    refuse([output], [path])
    found = pipeline.check(path, kind=kind, config=config, rules=rules, trust_run_settings=trust_run_settings)
    if format_ is CheckFormat.JSON:
        text = checked.render_json(found) + "\n"
    elif format_ is CheckFormat.MARKDOWN:
        text = markdown.render(found)
    else:
        text = checked.render(found, **({} if output else screen()))
    emit(text, output)
    raise typer.Exit(FOUND if found.wrong else NOTHING)
