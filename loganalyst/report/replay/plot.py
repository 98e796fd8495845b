"""A figure of a replay: the fault as the unchanged replay shows it, beside the counterfactuals. matplotlib on use."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from loganalyst import guard
from loganalyst.errors import LogAnalystError
from loganalyst.model import Experiment, Replay
from loganalyst.report.common.wording import clean
from loganalyst.report.diagnosis.panels import COLOURS
from loganalyst.report.diagnosis.plot import WIDTH, check, literal, write
from loganalyst.report.replay.screen import headline

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEIGHT = 2.2  # inches of a panel
SHADES = ("#0072B2", "#009E73", "#E69F00", "#CC79A7", "#56B4E9")  # told apart by colour-blind readers too
ABOVE = 20.0  # times the first loss: what is higher lies at the upper edge


def save(found: Replay, path: Path) -> None:
    """Write the figure in the format of its suffix. Raises LogAnalystError where there is nothing to draw, the file
    cannot be written or lies inside the run.
    """
    read = [guard.of_run(found.before.run)]
    check(path, [*read, *([guard.Read(str(found.checkpoint), what="checkpoint")] if found.checkpoint else [])])
    drawn = _shown(found.experiments)
    if not drawn:
        raise LogAnalystError(found.before.run.path, "no experiment to draw", "an entry is needed: --entry")
    write(path, lambda figure: _fill(figure, found, drawn))


def _shown(experiments: Sequence[Experiment]) -> list[Experiment]:
    """Those that compare something; where none does, the first that shows the fault."""
    curves = [e for e in experiments if any(run.series for run in e.runs)]
    return [e for e in curves if any(len(run.series) > 1 for run in e.runs)] or curves[:1]


def _fill(figure: "Figure", found: Replay, drawn: Sequence[Experiment]) -> None:
    figure.set_size_inches(WIDTH, 0.6 + HEIGHT * len(drawn))
    for ax, experiment in zip(figure.subplots(len(drawn), squeeze=False)[:, 0], drawn, strict=True):
        _draw(ax, experiment, found.onset)
    figure.suptitle(literal(clean(headline(found), 100)), fontsize=10)


def _draw(ax: "Axes", e: Experiment, onset: int | None) -> None:
    """The losses of the run that decided; a cross where one is not finite, an arrow where it leaves the panel."""
    run = next((r for r in e.runs if r.series and r.outcome == e.outcome), next(r for r in e.runs if r.series))
    first = [abs(values[0]) for values in run.series.values() if len(values) and np.isfinite(values[0])]
    top = ABOVE * max(first, default=1.0)
    for i, (name, values) in enumerate(run.series.items()):
        losses, steps = np.asarray(values, dtype=np.float64), run.start + np.arange(len(values))
        colour = COLOURS["quiet"] if not len(losses) else "#D55E00" if i == 0 else SHADES[(i - 1) % len(SHADES)]
        shown = np.clip(losses, -top, top)
        ax.plot(steps, shown, color=colour, lw=1.4, label=literal(clean(name, 40)), zorder=3 - (i > 0))
        bad = steps[~np.isfinite(losses)]
        if len(bad):
            ax.plot(bad, np.full(len(bad), top), "x", color=colour, ms=7, mew=2, clip_on=False)
    if onset is not None:
        ax.axvline(onset, color=COLOURS["quiet"], lw=0.8, ls="--")
    ax.set_title(literal(f"{e.name}: {e.outcome}"), loc="left")
    ax.set_ylabel("loss")
    ax.set_xlabel("step")
    ax.legend(fontsize=7.5, loc="center left")
