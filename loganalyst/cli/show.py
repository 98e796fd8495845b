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
    """How features are laid out."""

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
    anonymous: Annotated[
        bool,
        typer.Option("--anonymous", help="Write curves and settings as JSON, without names, paths and text."),
    ] = False,
    output: Output = None,
    config: ConfigFile = None,
    trust_run_settings: TrustRuns = False,
) -> None:
    """Show what was read of a run.

    Its sources, metrics with their roles and why, config, gaps, and how far it could be judged. With --anonymous it
    writes what an issue about a wrong diagnosis needs (docs/anonymous.md); `diagnose FILE` judges that again.
    """
    from loganalyst import pipeline
    from loganalyst.report import show as report

    if format_ is FeatureFormat.JSON and not features:
        raise typer.BadParameter("json is a format of --features; add it", param_hint="--format")
    if anonymous and (metric or features or plot):
        raise typer.BadParameter("it is a document of its own; leave the other options out", param_hint="--anonymous")
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
        emit(_features(diagnosis, format_))
    if plot is None and not metric and not features:
        emit(report.render(diagnosis, **screen()))
    return None


def _features(diagnosis: "Diagnosis", format_: FeatureFormat) -> str:
    """The features of a run, as laid out by `format_`."""
    from loganalyst.features import declared
    from loganalyst.report import featurerows as features
    from loganalyst.report import show

    if format_ is FeatureFormat.JSON:
        return features.render(diagnosis, declared())
    return show.render_features(diagnosis, declared(), **screen())
