"""`loganalyst inspect`."""

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from loganalyst.cli.app import command
from loganalyst.cli.common import FOUND, NOTHING, Output, emit, layout, refuse, screen


class InspectFormat(StrEnum):
    """Output formats of an inspection."""

    TERMINAL = "terminal"
    JSON = "json"


@command("One run", "loganalyst inspect last.ckpt", "loganalyst inspect step-1000.pt step-2000.pt --plot layers.png")
def inspect(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="Checkpoints; each is compared with the previous one.", show_default=False),
    ],
    *,
    spectra: Annotated[
        bool, typer.Option("--spectra", help="Add the spectral norm and effective rank of each matrix (slower).")
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Plot the tensors to FILE (.png, .svg or .pdf), one per row."),
    ] = None,
    top: Annotated[int, typer.Option("--top", metavar="N", min=0, help="Show the N worst tensors.")] = 10,
    format_: Annotated[InspectFormat, layout(InspectFormat)] = InspectFormat.TERMINAL,
    output: Output = None,
) -> None:
    """Inspect checkpoints without the code that wrote them.

    Shows NaN and Inf in tensors, dead rows, norms, the optimiser's moments, the loss scale, and changes between
    checkpoints. No code from a file is run. Exits with 1 if a checkpoint is unusable (NaN or Inf), 2 if one cannot be
    read, else 0.
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
