"""`loganalyst show`."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loganalyst.cli.app import app
from loganalyst.cli.common import ConfigFile, TrustRuns, emit, layout, screen

if TYPE_CHECKING:
    from loganalyst.model import Diagnosis


class FeatureFormat(StrEnum):
    """How features are laid out."""

    TABLE = "table"
    JSON = "json"


@app.command()
def show(
    run: Annotated[
        Path,
        typer.Argument(metavar="RUN", help="A run's directory or a single file.", show_default=False, readable=False),
    ],
    *,
    metric: Annotated[
        list[str], typer.Option("--metric", metavar="NAME", help="Show this metric, or draw it with --plot.")
    ] = [],  # noqa: B006
    features: Annotated[bool, typer.Option("--features", help="Show what rules can ask about this run.")] = False,
    format_: Annotated[FeatureFormat, layout(FeatureFormat, "features are")] = FeatureFormat.TABLE,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", metavar="FILE", help="Draw the main curves, or those of --metric, into FILE (.png, .svg or .pdf)."
        ),
    ] = None,
    config: ConfigFile = None,
    trust_run_settings: TrustRuns = False,
) -> None:
    """Show what was read of a run.

    Its sources, metrics with their roles and why, config, gaps, and how far it could be judged.
    """
    from loganalyst import pipeline
    from loganalyst.report import show as report

    if format_ is FeatureFormat.JSON and not features:
        raise typer.BadParameter("json is a format of --features; add it", param_hint="--format")
    diagnosis = pipeline.diagnose(run, config=config, trust_run_settings=trust_run_settings)
    if plot is not None:
        from loganalyst.report.plot import save

        save(diagnosis, plot, metric)
    for name in metric if plot is None else []:
        emit(report.render_metric(diagnosis, name, **screen()))
    if features:
        emit(_features(diagnosis, format_))
    if plot is None and not metric and not features:
        emit(report.render(diagnosis, **screen()))


def _features(diagnosis: "Diagnosis", format_: FeatureFormat) -> str:
    """The features of a run, as laid out by `format_`."""
    from loganalyst.features import declared
    from loganalyst.report import features, show

    if format_ is FeatureFormat.JSON:
        return features.render(diagnosis, declared())
    return show.render_features(diagnosis, declared(), **screen())
