"""One panel of a figure: a curve, the findings on it and its missing values, on a scale that shows them."""

from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from loganalyst.model import Curve, Role
from loganalyst.report.common.curvemarks import COLOURS, MARKS, ONSET, RATE, findings_on, spike_peak
from loganalyst.report.common.figure import literal, number_format, panel_title
from loganalyst.report.common.scale import MIN_POINTS_FOR_MEDIANS, Floats, Steps, local_medians, scale, stretches

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_POINTS_DRAWN = 1500  # of a longer curve the range and the median of groups are drawn
MEDIANS = 250  # points of the line through the medians
MAX_DOTS = 60  # a curve with fewer points shows each as a dot
MAX_NONFINITE_MARKS = 60
SIGN: dict[str, Any] = {"linestyle": "none", "clip_on": False}


def draw(ax: "Axes", curve: Curve, findings: pl.DataFrame, onset: int | None, *, width: int) -> None:
    """Draw a curve with its findings. `onset` is where the trouble began, `width` the characters of a title."""
    finite = np.isfinite(curve.values)
    steps, values = curve.steps[finite], curve.values[finite]
    rate = curve.role.name == RATE
    colour = COLOURS["rate" if rate else "curve"]
    for first, end in pairwise(stretches(steps)):  # no line across a pause in the log
        _stretch(ax, steps[first:end], values[first:end], colour, many=values.size, rate=rate)
    if values.size:
        _scale(ax, values, curve.role)
    else:
        ax.set_yticks([])
    _mark_nonfinite(ax, curve.steps[~finite])
    _mark_findings(ax, curve, findings_on(curve, findings))
    if onset is not None:
        ax.axvline(onset, color=COLOURS["onset"], linewidth=0.8, alpha=0.4, zorder=0.9)
        sign: dict[str, Any] = {"marker": "^", "markersize": 6, "zorder": 4, "gid": "mark-onset", **SIGN}
        ax.plot(onset, 0, transform=ax.get_xaxis_transform(), color=COLOURS["onset"], **sign)
    panel_title(ax, literal(curve.metric, width))
    ax.margins(x=0.01)
    if rate and values.size:
        _rate_axis(ax, values)


def _rate_axis(ax: "Axes", values: Floats) -> None:
    """Few ticks, as rates are written; a constant rate has one tick."""
    from matplotlib.ticker import MaxNLocator

    if ax.get_yscale() == "log":
        return
    ax.margins(y=0.12)
    ax.yaxis.set_major_formatter(number_format(3))
    if np.ptp(values) > 0:
        ax.yaxis.set_major_locator(MaxNLocator(3))
    else:
        ax.set_yticks([float(values[0])])


def _stretch(ax: "Axes", steps: Steps, values: Floats, colour: str, *, many: int, rate: bool) -> None:
    """A few points as dots, many with their local medians, very many as medians within their range."""
    n = values.size
    size = max(many // MEDIANS, 3)
    if rate or many < MIN_POINTS_FOR_MEDIANS or n < 3 * size:
        ax.plot(steps, values, color=colour, linewidth=1.1, marker="o" if many < MAX_DOTS else None, markersize=2.5)
        return
    if many <= MAX_POINTS_DRAWN:
        ax.plot(steps, values, color=colour, linewidth=0.6, alpha=0.35)
    else:
        edges = np.arange(0, n, -(-many // MAX_POINTS_DRAWN))
        low, high = np.minimum.reduceat(values, edges), np.maximum.reduceat(values, edges)
        ax.fill_between(steps[edges], low, high, color=colour, alpha=0.25, linewidth=0)
    ax.plot(*local_medians(steps, values, size), color=colour, linewidth=1.2)


def _scale(ax: "Axes", values: Floats, role: Role) -> None:
    """The shared value axis; a note in the corner counts the values outside."""
    chosen = scale(values, role)
    if chosen.log:
        ax.set_yscale("log")
    elif chosen.outside:
        ax.set_ylim(chosen.low, chosen.high)
        note = f"{chosen.outside} outside, to {chosen.farthest:.3g}"
        ax.set_title(note, loc="right", fontsize=7, color=COLOURS["quiet"], pad=3)


def _mark_nonfinite(ax: "Axes", steps: Steps) -> None:
    """A sign near the top edge wherever a value is NaN or infinite."""
    if steps.size:
        marked = np.unique(np.linspace(0, steps.size - 1, min(steps.size, MAX_NONFINITE_MARKS)).astype(int))
        sign: dict[str, Any] = {"marker": "v", "markersize": 5, "zorder": 3, "gid": "mark-nonfinite", **SIGN}
        high = np.full(marked.size, 0.95)
        ax.plot(steps[marked], high, transform=ax.get_xaxis_transform(), color=COLOURS["nonfinite"], **sign)


def _mark_findings(ax: "Axes", curve: Curve, found: pl.DataFrame) -> None:
    """Each kind with its sign. `_mark_nonfinite` marks the "span" style."""
    for row in found.iter_rows(named=True):
        name, style, _ = MARKS[row["kind"]]
        look: dict[str, Any] = {"color": COLOURS[name], "gid": f"mark-{row['kind']}"}
        if style == "point":
            if (peak := spike_peak(curve, row)) is not None:
                ring = {"marker": "o", "markersize": 4, "fillstyle": "none", "linestyle": "none", **look}
                ax.plot(curve.steps[peak], curve.values[peak], **ring)
        elif style == "band":
            finite = curve.steps[np.isfinite(curve.values)]
            end = row["end_step"] if row["end_step"] is not None else int(finite[-1])
            ax.axvspan(row["step"], end, alpha=0.12, linewidth=0, **look)
        elif style != "span":
            ax.axvline(row["step"], linestyle=style, linewidth=1.1, **look)


def legend(figure: "Figure", kinds: Iterable[str]) -> list["Artist"]:
    """A sign for every one of these kinds of mark that the figure shows."""
    there = {artist.get_gid() for ax in figure.axes for artist in ax.get_children()}
    return [_legend_sign(kind) for kind in kinds if f"mark-{kind}" in there]


def _legend_sign(kind: str) -> "Artist":
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    name, style, words = MARKS.get(kind, ("onset", "onset", ONSET))
    if style == "band":
        return Patch(color=COLOURS[name], alpha=0.25, label=words)
    signs: dict[str, dict[str, Any]] = {
        "point": {"marker": "o", "fillstyle": "none", "linestyle": "none", "markersize": 5},
        "span": {"marker": "v", "linestyle": "none", "markersize": 5},
        "onset": {"marker": "^", "linestyle": "none", "markersize": 6},
    }
    look = signs.get(style, {"linestyle": style, "linewidth": 1.1})
    return Line2D([], [], color=COLOURS[name], label=words, **look)
