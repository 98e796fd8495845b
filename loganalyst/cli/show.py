"""`loganalyst show`."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loganalyst.cli.app import command
from loganalyst.cli.common import ConfigFile, Output, TrustRuns, emit, layout, refuse, screen

if TYPE_CHECKING:
    from loganalyst.model import Diagnosis


class FeatureFormat(StrEnum):
    """Output formats of features."""

    TABLE = "table"
    JSON = "json"


@command("One run", "loganalyst show runs/exp42", "loganalyst show runs/exp42 --metric train/loss --plot loss.png")
def show(
    run: Annotated[
        Path,
        typer.Argument(metavar="RUN", help="A run's directory or a single file.", show_default=False, readable=False),
    ],
    *,
    metric: Annotated[
        list[str], typer.Option("--metric", metavar="NAME", help="Show this metric, or plot it with --plot.")
    ] = [],  # noqa: B006
    features: Annotated[
        bool, typer.Option("--features", help="Show the features of the run, which rules ask about.")
    ] = False,
    format_: Annotated[FeatureFormat, layout(FeatureFormat, "Output format of --features.")] = FeatureFormat.TABLE,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", metavar="FILE", help="Plot the main curves, or those of --metric, to FILE (.png, .svg or .pdf)."
        ),
    ] = None,
    anonymous: Annotated[
        bool,
        typer.Option("--anonymous", help="Write curves and settings as JSON, without names, paths and texts."),
    ] = False,
    output: Output = None,
    config: ConfigFile = None,
    trust_run_settings: TrustRuns = False,
) -> None:
    """Show what was read from a run.

    Shows sources, metrics with their roles and the reasons, settings, gaps, and what cannot be judged. --anonymous
    writes the file for an issue about a wrong diagnosis (docs/anonymous.md); `diagnose FILE` diagnoses it again.
    """
    from loganalyst import pipeline
    from loganalyst.report import show as report

    if format_ is FeatureFormat.JSON and not features:
        raise typer.BadParameter("json is a format of --features; add it", param_hint="--format")
    if anonymous and (metric or features or plot):
        raise typer.BadParameter("cannot be combined with --metric, --features or --plot", param_hint="--anonymous")
    refuse([plot, output], [run])
    diagnosis = pipeline.diagnose(run, config=config, trust_run_settings=trust_run_settings)
    if anonymous:
        from loganalyst.anonymous import render

        return emit(render(diagnosis), output)
    if plot is not None:
        from loganalyst.report.diagnosis.plot import save

        save(diagnosis, plot, metric)
    for name in metric if plot is None else []:
        emit(report.render_metric(diagnosis, name, **screen()))
    if features:
        emit(_features(diagnosis, config, format_))
    if plot is None and not metric and not features:
        emit(report.render(diagnosis, **screen()))
    return None


def _features(diagnosis: "Diagnosis", config: Path | None, format_: FeatureFormat) -> str:
    """The features of a run, in a format."""
    from loganalyst import pipeline
    from loganalyst.features import declared
    from loganalyst.report import featurerows as features
    from loganalyst.report import show

    healthy = pipeline.healthy_places(diagnosis, config=config)
    if format_ is FeatureFormat.JSON:
        return features.render(diagnosis, declared(), healthy)
    return show.render_features(diagnosis, declared(), healthy, **screen())
