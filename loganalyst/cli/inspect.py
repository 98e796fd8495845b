"""`loganalyst inspect`."""

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from loganalyst.cli.app import command
from loganalyst.cli.common import FOUND, NOTHING, Output, emit, layout, refuse, screen


class InspectFormat(StrEnum):
    """How the answer is laid out."""

    TERMINAL = "terminal"
    JSON = "json"


@command("One run", "loganalyst inspect last.ckpt", "loganalyst inspect step-1000.pt step-2000.pt --plot layers.png")
def inspect(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="Checkpoints; each is compared with the one before.", show_default=False),
    ],
    *,
    spectra: Annotated[
        bool, typer.Option("--spectra", help="Spectral norm and effective rank of each matrix (takes longer).")
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw the tensors, one a row, to FILE (.png, .svg or .pdf)."),
    ] = None,
    top: Annotated[int, typer.Option("--top", metavar="N", min=0, help="How many tensors are shown.")] = 10,
    format_: Annotated[InspectFormat, layout(InspectFormat, "the answer is")] = InspectFormat.TERMINAL,
    output: Output = None,
) -> None:
    """Look into checkpoints, without the code that made them.

    NaN and Inf by tensor, dead rows, norms, the optimiser's moments, the loss scale, and what changed between two.
    Nothing of a file is run. Exits with 1 if a checkpoint is unusable (NaN or Inf), 2 if one cannot be read, else 0.
    """
    from loganalyst.checkpoint import inspect as inspected
    from loganalyst.progressbar import Bar
    from loganalyst.report.inspection import screen as inspection

    refuse([output, plot], files)
    bar = Bar()
    try:
        found = inspected(*files, spectra=spectra, watch=partial(bar.show_phase, "inspecting"))
    finally:
        bar.clear()
    if plot:
        found.plot(plot)
    if format_ is InspectFormat.JSON:
        text = inspection.render_json(found) + "\n"
    else:
        text = inspection.render(found, top=top, **({} if output else screen()))
    emit(text, output)
    raise typer.Exit(FOUND if found.unusable else NOTHING)
