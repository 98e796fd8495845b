"""`loganalyst reference`: healthy runs that values are compared with."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loganalyst.cli.app import app, command
from loganalyst.cli.common import USAGE, RulesDirs, complain, emit
from loganalyst.cli.help import Group
from loganalyst.errors import nearest

if TYPE_CHECKING:
    from loganalyst.diagnosis.healthyruns import HealthyRuns

reference_app = typer.Typer(cls=Group, help="Show the reference of healthy runs, and add yours.", no_args_is_help=True)
app.add_typer(reference_app, name="reference", rich_help_panel="What it knows")


@command("Commands", "loganalyst reference add store/ -o my-rules", of=reference_app)
def add(
    store: Annotated[
        Path, typer.Argument(metavar="STORE", help="Folder of the store.", show_default=False, readable=False)
    ],
    *,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Folder of your rules.", show_default="here")
    ] = Path(),
) -> None:
    """Add the runs of a store that you confirmed as healthy.

    Their numbers go to a file in the folder `reference` of your rules, which replaces the earlier file of this store.
    A diagnosis with `--rules DIR`, or with this folder in loganalyst.yaml, compares values with these runs too.
    """
    from loganalyst.evaluate.ownreference import add_reference

    emit(f"{add_reference(store, output)}\n")


@command(
    "Commands",
    "loganalyst reference show",
    "loganalyst reference show grad_norm_max --rules my-rules",
    of=reference_app,
)
def show(
    feature: Annotated[str, typer.Argument(metavar="FEATURE", help="Show the quantiles of this feature.")] = "",
    *,
    rules: RulesDirs = [],  # noqa: B006
) -> None:
    """Show how many healthy runs each reference holds, or the quantiles of one feature in them.

    `any` are healthy runs of all kinds. The quantiles are pooled over our reference and yours.
    """
    from loganalyst import pipeline

    known = pipeline.catalogue(tuple(rules))
    for problem in known.problems:
        complain(problem, USAGE)
    if feature and feature not in known.declared:
        raise typer.BadParameter(nearest(feature, known.declared) or "no such feature", param_hint="FEATURE")
    emit(_ranges(known.healthy_runs, feature) if feature else _files(known.healthy_runs))


def _files(known: "HealthyRuns") -> str:
    """One line for each reference."""
    from loganalyst.report.common.wording import count

    rows = ((path, count(r.runs, "healthy run"), count(r.repositories, "repository", "repositories"))
            for path, r in known.references.items())  # fmt: skip
    return "".join(f"{path}: {runs} of {repositories}\n" for path, runs, repositories in rows)


def _ranges(known: "HealthyRuns", feature: str) -> str:
    """One line for each kind of run: its number of runs and repositories, and the quantiles."""
    if not known.kinds(feature):
        return f"no reference has {feature}\n"
    rows = [("kind", "runs", "repositories", *(f"{p * 100:g} %" for p in known.probabilities))]
    for kind in known.kinds(feature):
        if found := known.range(feature, kind):
            numbers = (f"{value:.3g}" for value in found.values)
            rows.append((kind, f"{found.runs:,}", f"{found.repositories:,}", *numbers))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "".join("  ".join(f"{cell:>{w}}" for cell, w in zip(row, widths, strict=True)) + "\n" for row in rows)
