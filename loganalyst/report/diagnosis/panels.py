"""One panel of a figure: a curve, what was found on it, where values are missing, in a scale that shows it."""

from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.model import Curve, Role
from loganalyst.report.common.scale import NOISY, scale, stretches
from loganalyst.report.common.wording import clean

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter

Floats = NDArray[np.float64]

# colours that people with any colour vision tell apart (Okabe and Ito 2008)
COLOURS = {
    "curve": "#0072B2",
    "rate": "#595959",
    "onset": "#000000",
    "quiet": "#7f7f7f",
    "nonfinite": "#D55E00",
    "divergence": "#D55E00",
    "level_up": "#E69F00",
    "level_down": "#009E73",
    "spike": "#CC79A7",
    "slope": "#E69F00",
    "plateau": "#56B4E9",
}
# kind of finding -> colour, how it is drawn, words of the legend; others (noise, bends at a rate) are not drawn
MARKS = {
    "nonfinite": ("nonfinite", "span", "NaN or infinite"),
    "divergence": ("divergence", "-", "left its trend"),
    "level_up": ("level_up", "--", "new level"),
    "level_down": ("level_down", "--", "new level, better"),
    "slope": ("slope", ":", "turned for the worse"),
    "plateau": ("plateau", "band", "plateau"),
    "spike": ("spike", "point", "spike"),
    "restart": ("quiet", ":", "restart"),
}
DRAWN = 1500  # points of a line; of more the middle and the extremes of groups are drawn
MEDIANS = 250  # points of that line
FEW = 60  # points that are drawn as such


def draw(ax: "Axes", curve: Curve, findings: pl.DataFrame, onset: int | None, *, width: int) -> None:
    """Draw a curve with its findings; `onset` is where the trouble began, `width` the characters of a title."""
    finite = np.isfinite(curve.values)
    steps, values = curve.steps[finite], curve.values[finite]
    rate = curve.role.name == "learning_rate"
    colour = COLOURS["rate" if rate else "curve"]
    _line(ax, steps, values, colour, rate=rate)
    if values.size:
        _scale(ax, values, curve.role)
    else:
        ax.set_yticks([])
    _lost(ax, curve.steps[~finite])
    found = findings.filter(pl.col("metric") == curve.metric, pl.col("step").is_not_null())
    if not rate:
        _found(ax, steps, values, found)
    if onset is not None:
        ax.axvline(onset, color=COLOURS["onset"], linewidth=0.8, alpha=0.4, zorder=0.9)
        sign: dict[str, Any] = {"marker": "^", "markersize": 6, "linestyle": "none", "clip_on": False, "zorder": 4}
        ax.plot(onset, 0, transform=ax.get_xaxis_transform(), color=COLOURS["onset"], gid="mark-onset", **sign)
    ax.set_title(clean(curve.metric, width).replace("$", r"\$"), loc="left", fontsize=8.5, pad=3)
    ax.margins(x=0.01)
    if rate and values.size:
        _rate_axis(ax, values)


def _rate_axis(ax: "Axes", values: Floats) -> None:
    """Few ticks, as rates are written; of a constant rate its value alone."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    if ax.get_yscale() == "log":
        return
    ax.margins(y=0.12)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:.3g}"))
    if np.ptp(values) > 0:
        ax.yaxis.set_major_locator(MaxNLocator(3))
    else:
        ax.set_yticks([float(values[0])])


def _line(ax: "Axes", steps: NDArray[np.int64], values: Floats, colour: str, *, rate: bool) -> None:
    """Each stretch that was logged without a long pause by itself: a line across one would be invented."""
    for first, end in pairwise(stretches(steps)):
        _stretch(ax, steps[first:end], values[first:end], colour, many=values.size, rate=rate)


def _stretch(ax: "Axes", steps: NDArray[np.int64], values: Floats, colour: str, *, many: int, rate: bool) -> None:
    """A few points as points; many with their local medians; very many as medians within their range."""
    n = values.size
    size = max(many // MEDIANS, 3)
    if rate or many < NOISY or n < 3 * size:
        ax.plot(steps, values, color=colour, linewidth=1.1, marker="o" if many < FEW else None, markersize=2.5)
        return
    if many <= DRAWN:
        ax.plot(steps, values, color=colour, linewidth=0.6, alpha=0.35)
    else:
        edges = np.arange(0, n, -(-many // DRAWN))
        low, high = np.minimum.reduceat(values, edges), np.maximum.reduceat(values, edges)
        ax.fill_between(steps[edges], low, high, color=colour, alpha=0.25, linewidth=0)
    whole = n // size * size
    middle = np.median(values[:whole].reshape(-1, size), axis=1)
    ax.plot(steps[:whole].reshape(-1, size)[:, size // 2], middle, color=colour, linewidth=1.2)


def _scale(ax: "Axes", values: Floats, role: Role) -> None:
    """The axis of `report.scale`; what lies outside of it is told."""
    chosen = scale(values, role)
    if chosen.log:
        ax.set_yscale("log")
    elif chosen.outside:
        ax.set_ylim(chosen.low, chosen.high)
        told = f"{chosen.outside} outside, to {chosen.farthest:.3g}"
        ax.set_title(told, loc="right", fontsize=7, color=COLOURS["quiet"], pad=3)


def _lost(ax: "Axes", steps: NDArray[np.int64]) -> None:
    """A sign near the top edge wherever a value is NaN or infinite."""
    if steps.size:
        shown = steps[np.unique(np.linspace(0, steps.size - 1, min(steps.size, 60)).astype(int))]
        sign: dict[str, Any] = {"marker": "v", "markersize": 5, "linestyle": "none", "clip_on": False, "zorder": 3}
        colour, high = COLOURS["nonfinite"], np.full(shown.size, 0.95)
        ax.plot(shown, high, transform=ax.get_xaxis_transform(), color=colour, gid="mark-nonfinite", **sign)


def _found(ax: "Axes", steps: NDArray[np.int64], values: Floats, found: pl.DataFrame) -> None:
    """Each kind in its own way; where the curve became non-finite is shown by `_lost`, and the span to its end."""
    for row in found.iter_rows(named=True):
        if row["kind"] not in MARKS:
            continue
        name, style, _ = MARKS[row["kind"]]
        look: dict[str, Any] = {"color": COLOURS[name], "gid": f"mark-{row['kind']}"}
        if style == "point":
            at = np.searchsorted(steps, row["step"])
            span = values[at : int(np.searchsorted(steps, row["end_step"] or row["step"], "right"))]
            if span.size:
                peak = int(at + np.argmax(np.abs(span - np.median(values))))
                ax.plot(steps[peak], values[peak], marker="o", markersize=4, fillstyle="none", linestyle="none", **look)
        elif style == "band":
            end = row["end_step"] if row["end_step"] is not None else int(steps[-1])
            ax.axvspan(row["step"], end, alpha=0.12, linewidth=0, **look)
        elif style != "span":
            ax.axvline(row["step"], linestyle=style, linewidth=1.1, **look)


def legend(figure: "Figure", kinds: Iterable[str]) -> list["Artist"]:
    """A sign for every kind of mark that is in the figure, in the order of MARKS, the onset last."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    there = {artist.get_gid() for ax in figure.axes for artist in ax.get_children()}
    handles: list[Artist] = []
    for kind in kinds:
        if f"mark-{kind}" not in there:
            continue
        name, style, words = MARKS.get(kind, ("onset", "begun", "where the trouble began"))
        colour = COLOURS[name]
        if style == "band":
            handles.append(Patch(color=colour, alpha=0.25, label=words))
        else:
            line: dict[str, Any] = {"linestyle": style, "linewidth": 1.1}
            point: dict[str, Any] = {"marker": "o", "fillstyle": "none", "linestyle": "none", "markersize": 5}
            nan: dict[str, Any] = {"marker": "v", "linestyle": "none", "markersize": 5}
            begun: dict[str, Any] = {"marker": "^", "linestyle": "none", "markersize": 6}
            look = {"point": point, "span": nan, "begun": begun}.get(style, line)
            handles.append(Line2D([], [], color=colour, label=words, **look))
    return handles


def steps_short() -> "FuncFormatter":
    """Steps as 500, 2k, 1.5M."""
    from matplotlib.ticker import FuncFormatter

    def short(value: float, _: int | None = None) -> str:
        size, sign = next(((s, w) for s, w in ((1e9, "G"), (1e6, "M"), (1e3, "k")) if abs(value) >= s), (1.0, ""))
        return f"{value / size:.4g}{sign}"

    return FuncFormatter(short)
