"""`loganalyst replay`."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loganalyst.cli.app import command
from loganalyst.cli.common import (
    FOUND,
    NOTHING,
    ConfigFile,
    ExitZero,
    Output,
    RulesDirs,
    TrustRuns,
    emit,
    layout,
    refuse,
    screen,
)

if TYPE_CHECKING:
    from loganalyst.model import Replay


class ReplayFormat(StrEnum):
    """Output formats of a replay."""

    TERMINAL = "terminal"
    MARKDOWN = "markdown"
    JSON = "json"


class Device(StrEnum):
    """Devices for the experiments."""

    AUTO = "auto"
    CUDA = "cuda"
    CPU = "cpu"


Entry = Annotated[
    str | None,
    typer.Option(
        "--entry",
        metavar="MODULE:FUNCTION",
        help="Returns the training as a ReplaySpec; also FILE.py:FUNCTION. Without it, checkpoints are inspected.",
    ),
]
CheckpointFile = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint", metavar="FILE", help="Checkpoint to start from (default: the last one before the fault)."
    ),
]


@command(
    "One run",
    "loganalyst replay runs/exp42",
    "loganalyst replay runs/exp42 --entry train.py:replay_spec --budget 600",
)
def replay(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run that failed.", show_default=False)],
    *,
    entry: Entry = None,
    checkpoint: CheckpointFile = None,
    device: Annotated[
        Device, typer.Option("--device", metavar="auto|cuda|cpu", help="Device to run on (auto: CUDA if available).")
    ] = Device.AUTO,
    cause: Annotated[
        str | None, typer.Option("--cause", metavar="ID", help="Test only this cause (the id of a rule).")
    ] = None,
    budget: Annotated[
        float, typer.Option("--budget", metavar="SECONDS", min=1, help="Time limit for all experiments together.")
    ] = 300.0,
    memory: Annotated[
        float | None,
        typer.Option("--memory", metavar="GB", min=0.1, help="Memory limit (default: 90 % of the free memory)."),
    ] = None,
    config: ConfigFile = None,
    rules: RulesDirs = [],  # noqa: B006
    trust_run_settings: TrustRuns = False,
    format_: Annotated[ReplayFormat, layout(ReplayFormat)] = ReplayFormat.TERMINAL,
    output: Output = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Plot the fault and the experiments to FILE (.png, .svg or .pdf)."),
    ] = None,
    exit_zero: ExitZero = False,
) -> None:
    """Test each cause by training again from a checkpoint.

    Each experiment changes one thing. The code of the entry runs in a process of its own, within the budget. Exits
    with 1 if a cause is likely after the experiments, 2 if the run, the entry or the checkpoint cannot be used, else 0.
    """
    from loganalyst.replaying.replayrun import replay as replayed

    refuse([output, plot], [run, *([checkpoint] if checkpoint else [])])
    found = replayed(
        run,
        entry,
        checkpoint=checkpoint,
        device=device.value,
        cause=cause,
        budget=budget,
        memory=None if memory is None else int(memory * 1e9),
        config=config,
        rules=rules,
        trust_run_settings=trust_run_settings,
    )
    if plot is not None:
        found.plot(plot)
    emit(_report(found, format_, output), output)
    likely = any(c.verdict == "likely" for c in found.after.causes)
    raise typer.Exit(FOUND if likely and not exit_zero else NOTHING)


def _report(found: "Replay", format_: ReplayFormat, output: Path | None) -> str:
    from loganalyst.report.replay import markdown
    from loganalyst.report.replay import screen as report

    if format_ is ReplayFormat.JSON:
        return report.render_json(found) + "\n"
    if format_ is ReplayFormat.MARKDOWN:
        return markdown.render(found)
    return report.render(found, **({} if output else screen()))
