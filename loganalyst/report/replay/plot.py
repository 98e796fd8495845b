"""A figure of a replay: the fault in the unchanged replay, and the counterfactuals. matplotlib is loaded on use."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from loganalyst import guard
from loganalyst.errors import LogAnalystError
from loganalyst.model import Experiment, Replay
from loganalyst.report.common.curvemarks import COLOURS
from loganalyst.report.common.figure import WIDTH, check_target, literal, write
from loganalyst.report.replay.screen import headline

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL_HEIGHT = 2.2  # inches
# Colours of the counterfactuals, which colour-blind readers can distinguish
SHADES = tuple(COLOURS[name] for name in ("curve", "level_down", "level_up", "spike", "plateau"))
CLIP_FACTOR = 20.0  # losses above this multiple of the first loss lie at the upper edge


def save(found: Replay, path: Path) -> None:
    """Write the figure in the format of the path's suffix.

    Raises LogAnalystError where there is nothing to draw, or the file cannot be written or lies inside the run.
    """
    read = [guard.of_run(found.before.run)]
    check_target(path, [*read, *([guard.Read(str(found.checkpoint), what="checkpoint")] if found.checkpoint else [])])
    drawn = _drawn(found.experiments)
    if not drawn:
        raise LogAnalystError(found.before.run.path, "no experiment to draw", "an entry is needed: --entry")
    write(path, lambda figure: _fill(figure, found, drawn))


def _drawn(experiments: Sequence[Experiment]) -> list[Experiment]:
    """The experiments that compare several curves; if there is none, the first that shows the fault."""
    curves = [e for e in experiments if any(run.series for run in e.runs)]
    return [e for e in curves if any(len(run.series) > 1 for run in e.runs)] or curves[:1]


def _fill(figure: "Figure", found: Replay, drawn: Sequence[Experiment]) -> None:
    figure.set_size_inches(WIDTH, 0.6 + PANEL_HEIGHT * len(drawn))
    for ax, experiment in zip(figure.subplots(len(drawn), squeeze=False)[:, 0], drawn, strict=True):
        _draw(ax, experiment, found.onset)
    figure.suptitle(literal(headline(found), 100), fontsize=10)


def _draw(ax: "Axes", e: Experiment, onset: int | None) -> None:
    """The losses of the deciding run. A cross marks a loss that is not finite."""
    run = next((r for r in e.runs if r.series and r.outcome == e.outcome), next(r for r in e.runs if r.series))
    first = [abs(values[0]) for values in run.series.values() if len(values) and np.isfinite(values[0])]
    top = CLIP_FACTOR * max(first, default=1.0)
    for i, (name, values) in enumerate(run.series.items()):
        losses, steps = np.asarray(values, dtype=np.float64), run.start + np.arange(len(values))
        shade = COLOURS["nonfinite"] if i == 0 else SHADES[(i - 1) % len(SHADES)]
        colour = shade if len(losses) else COLOURS["quiet"]
        ax.plot(steps, np.clip(losses, -top, top), color=colour, lw=1.4, label=literal(name, 40), zorder=3 - (i > 0))
        bad = steps[~np.isfinite(losses)]
        if len(bad):
            ax.plot(bad, np.full(len(bad), top), "x", color=colour, ms=7, mew=2, clip_on=False)
    if onset is not None:
        ax.axvline(onset, color=COLOURS["quiet"], lw=0.8, ls="--")
    ax.set_title(literal(f"{e.name}: {e.outcome}"), loc="left")
    ax.set_ylabel("loss")
    ax.set_xlabel("step")
    ax.legend(fontsize=7.5, loc="center left")
