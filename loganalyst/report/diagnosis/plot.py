"""A figure of a run: its curves with the findings marked, the learning rate below them. matplotlib is loaded on use.

A figure writes only the file that was asked for, and never into the run's own folder. The same diagnosis gives the same
bytes.
"""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from loganalyst import guard
from loganalyst.errors import LogAnalystError, SourceError, nearest
from loganalyst.model import Curve, Diagnosis
from loganalyst.report.common.curvemarks import COLOURS, MARKS, RATE
from loganalyst.report.common.figure import (
    WIDTH,
    check_target,
    for_notebook,
    legend_below,
    literal,
    step_format,
    write,
)
from loganalyst.report.common.scale import MIN_CURVE_POINTS, aligned
from loganalyst.report.common.wording import clean, percent
from loganalyst.report.diagnosis.document import document
from loganalyst.report.diagnosis.panels import draw, legend
from loganalyst.report.diagnosis.showncurves import shown_curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_PANELS = 12
PANEL_HEIGHT, RATE_HEIGHT = 1.75, 0.55  # inches of a panel; height of the rate's panel relative to another panel
COLUMNS = ((4, 1), (8, 2), (MAX_PANELS, 3))  # up to so many panels: so many columns


def save(diagnosis: Diagnosis, path: Path, metrics: Sequence[str] = ()) -> None:
    """Write the figure of `metrics` in the format of the path's suffix. Without metrics it shows the most informative
    curves, twelve at most.

    Raises LogAnalystError where the file cannot be written or lies inside the run, SourceError for an unknown metric.
    """
    check_target(path, [guard.of_run(diagnosis.run)])
    curves = _wanted(diagnosis, metrics)
    write(path, lambda figure: _fill(figure, diagnosis, curves))


def drawn(diagnosis: Diagnosis, metrics: Sequence[str] = ()) -> "Figure":
    """The figure that `save` would write, as an object that a notebook shows."""
    curves = _wanted(diagnosis, metrics)
    return for_notebook(lambda figure: _fill(figure, diagnosis, curves))


def _wanted(diagnosis: Diagnosis, metrics: Sequence[str]) -> list[Curve]:
    curves = [_named(diagnosis, m) for m in metrics] if metrics else chosen(diagnosis)
    if not curves:
        raise LogAnalystError(diagnosis.run.path, "no curve to draw", "a run with at least one logged metric is needed")
    return curves


def chosen(d: Diagnosis) -> list[Curve]:
    """The most informative curves: those of the first cause and the symptoms, the usual ones, then those that changed
    most and those with most points. The learning rate comes last, because it is drawn below the others.
    """
    first = shown_curves(d)
    changed = d.findings.sort("significance", descending=True, nulls_last=True)["metric"].unique(maintain_order=True)
    by_name = {c.metric: c for c in d.curves if len(c.values) and c.role.judged and c.role.name != RATE}
    more = [by_name[m] for m in changed if m in by_name]
    moving = (c for c in by_name.values() if len(c.values) >= MIN_CURVE_POINTS and (c.values != c.values[0]).any())
    others = sorted(moving, key=lambda c: -len(c.values))
    kept = list({c.metric: c for c in [*first, *more, *others]}.values())[:MAX_PANELS]
    lead = {c.metric: i for i, c in enumerate(first)}
    return sorted(kept, key=lambda c: (c.role.name == RATE, lead.get(c.metric, len(lead)), c.metric))


def _named(d: Diagnosis, metric: str) -> Curve:
    by_name = {c.metric: c for c in d.curves if len(c.values)}
    if metric not in by_name:
        hint = nearest(metric, by_name) or f"loganalyst show {d.run.path} lists them"
        raise SourceError(d.run.path, f"no metric {metric!r}", hint)
    return by_name[metric]


def _fill(figure: "Figure", d: Diagnosis, curves: Sequence[Curve]) -> None:
    """Panels in rows, with a low panel of the learning rate below every column."""
    rates = [c for c in curves if c.role.name == RATE]
    large = [c for c in curves if c.role.name != RATE] or rates
    low = rates if large is not rates else []
    columns = next((n for most, n in COLUMNS if len(large) <= most), 3)
    rows = -(-len(large) // columns)
    cells: list[Curve | None] = [*large, *[None] * (rows * columns - len(large))]
    for rate in low:  # a constant rate needs one panel only
        cells += [rate] * columns if np.ptp(rate.values) > 0 else [rate, *[None] * (columns - 1)]
    width = WIDTH if columns == 1 else WIDTH * 0.62 * columns
    figure.set_size_inches(width, 0.9 + PANEL_HEIGHT * (rows + RATE_HEIGHT * len(low)))
    heights = [*[1.0] * rows, *[RATE_HEIGHT] * len(low)]
    axes = figure.subplots(len(heights), columns, squeeze=False, gridspec_kw={"height_ratios": heights})
    onset = d.causes[0].onset_step if d.causes else None
    busiest = max(large, key=lambda c: len(c.values))
    blamed = next((c for c in d.curves if d.causes and c.metric == d.causes[0].metric and len(c.values)), busiest)
    panels: list[tuple[Axes, Curve]] = []
    for ax, curve in zip(axes.flat, cells, strict=True):
        if curve is None:
            ax.set_axis_off()
            continue
        draw(ax, curve, d.findings, onset if aligned(curve, blamed) else None, width=round(60 / columns**0.6))
        panels.append((ax, curve))
    _step_axes(panels, busiest)
    _title(figure, d, len(large), onset)


def _step_axes(panels: Sequence[tuple["Axes", Curve]], busiest: Curve) -> None:
    """One step axis for all curves that count the same steps, with numbers below the lowest panel of each column."""
    shared = [ax for ax, curve in panels if aligned(curve, busiest)]
    for one, other in pairwise(shared):
        other.sharex(one)
    lowest = {ax.get_subplotspec().colspan.start: ax for ax in shared}  # type: ignore[union-attr]
    for ax, _ in panels:
        ax.xaxis.set_major_formatter(step_format())
        own = ax not in shared
        numbered = own or ax in lowest.values()
        ax.tick_params(labelbottom=numbered)
        if numbered:
            ax.set_xlabel("step (as this metric counts)" if own else "step")


def _title(figure: "Figure", d: Diagnosis, panels: int, onset: int | None) -> None:
    """Name and verdict above the panels, the legend below, and how many metrics were left out."""
    doc = document(d)
    figure.suptitle(literal(f"{clean(doc.name, 40)}: {clean(doc.verdict, 60)} ({percent(d.confidence)})"), fontsize=10)
    legend_below(figure, legend(figure, [*MARKS, *(["onset"] if onset is not None else [])]), 6)
    judged = sum(c.role.judged and len(c.values) > 0 for c in d.curves)
    if panels == MAX_PANELS < judged:
        look: dict[str, Any] = {"ha": "right", "va": "bottom", "fontsize": 7, "color": COLOURS["quiet"]}
        figure.text(0.995, 0.005, f"{panels} of {judged} judged metrics", **look)
