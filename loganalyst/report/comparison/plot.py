"""A figure of a comparison: the settings that matter, their effects, the best region and a scaling law.

matplotlib is loaded on use.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst import guard
from loganalyst.errors import LogAnalystError
from loganalyst.report.common.curvemarks import COLOURS
from loganalyst.report.common.figure import check_target, literal, number_format, write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from loganalyst.comparing.comparisonresult import Comparison, Importance, ScalingFit

MAX_BARS = 10
MAX_EFFECTS = 4  # settings whose effect is drawn
WIDTH, HEIGHT = 3.6, 2.8  # inches of a panel
COLUMNS = 3
MAX_LAW_LINES = 5  # lines of a law with two axes
MAX_LEVEL_TICKS = 7  # up to here each level of a setting has a tick
NAME_LENGTH = 32  # characters of a name on an axis
FAILED = COLOURS["nonfinite"]
Floats = NDArray[np.float64]
Panel = Callable[["Axes"], None]


def save(found: "Comparison", path: Path) -> None:
    """Write the figure in the format of the path's suffix.

    Raises LogAnalystError where there is nothing to draw, or the file cannot be written or lies inside one of the runs.
    """
    check_target(path, [guard.Read(run, walk="all") for run in found.runs["path"]])
    panels = [*effects(found), *laws(found)]
    if not panels:
        raise LogAnalystError(path, "there is nothing to draw", "runs that differ in settings and log an objective")
    write(path, lambda figure: _fill(figure, panels))


def _fill(figure: "Figure", panels: Sequence[Panel]) -> None:
    columns = min(COLUMNS, -(-len(panels) // -(-len(panels) // COLUMNS)))
    rows = -(-len(panels) // columns)
    figure.set_size_inches(WIDTH * columns, HEIGHT * rows + 0.3)
    axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    for ax, draw in zip(axes, panels, strict=False):
        draw(ax)
    for ax in axes[len(panels) :]:
        ax.set_axis_off()


def effects(found: "Comparison") -> tuple[Panel, ...]:
    """Importances, effects of the first settings, and the plane of the two most important settings."""
    s = found.sensitivity
    panels: list[Panel] = [lambda ax: _bars(ax, found)] if s.importances else []
    shown = [i for i in s.importances if i.important] or list(s.importances[:1])
    panels += [lambda ax, i=i: _effect(ax, found, i) for i in shown[:MAX_EFFECTS]]  # type: ignore[misc]
    numeric = [i for i in shown if i.scale != "choice"]
    panels += [lambda ax: _plane(ax, found, numeric[0], numeric[1])] if len(numeric) > 1 else []
    return tuple(panels)


def laws(found: "Comparison") -> tuple[Panel, ...]:
    """The scaling laws that were fitted."""
    fits = found.scaling.fits
    panels: list[Panel] = [lambda ax, f=f: _law_of_two(ax, f) for f in fits if f.parameters and not f.curve]  # type: ignore[misc]
    return (*panels, *(lambda ax, f=f: _law(ax, f) for f in fits if f.curve))


def _bars(ax: "Axes", found: "Comparison") -> None:
    """Shares with their intervals. Settings that are not shown to matter are grey."""
    drawn = found.sensitivity.importances[:MAX_BARS][::-1]
    shares = np.array([i.share for i in drawn])
    errors = np.abs(np.array([(i.share - i.low, i.high - i.share) for i in drawn]).T)
    colours = [COLOURS["curve"] if i.important else "0.75" for i in drawn]
    ax.barh([_name(i.key) for i in drawn], shares, xerr=errors, color=colours, ecolor="0.35", capsize=2, height=0.65)
    ax.set_xlabel("share of the differences, with its interactions")
    ax.set_xlim(0, max(float(shares.max() + errors.max()) * 1.05, 0.05))
    ax.set_title("What matters (grey: not shown to)", loc="left")
    ax.grid(axis="y", visible=False)


def _effect(ax: "Axes", found: "Comparison", i: "Importance") -> None:
    """The runs, and the expected objective at each level with the other settings at their best."""
    values, low, high = (np.array([p[name] for p in i.profile], dtype=float) for name in ("value", "low", "high"))
    levels = [p["level"] for p in i.profile]
    choice = i.scale == "choice"
    x = np.array(range(len(levels)) if choice else levels, dtype=np.float64)
    runs = _runs(found, i)
    at = [levels.index(v) for v in runs["x"]] if choice else runs["x"].to_numpy()
    ax.plot(at, runs["objective"].to_numpy(), "o", color="0.6", markersize=2.5, alpha=0.6, label="runs")
    if choice:
        ax.errorbar(x, values, yerr=np.abs([values - low, high - values]), fmt="o", color=COLOURS["curve"], capsize=3)
        ax.set_xticks(x, [_name(str(v)) for v in levels], rotation=30)
    else:
        ax.fill_between(x, low, high, color=COLOURS["curve"], alpha=0.2, linewidth=0)
        ax.plot(x, values, color=COLOURS["curve"], linewidth=1.4, label="expected, the others at their best")
        _axis(ax, i, x)
    _region(ax, found, i)
    _limits(ax, runs["objective"].to_numpy(), np.concatenate([low, high]))
    ax.set_title(_name(i.key), loc="left")
    ax.set_ylabel(_name(found.objective.metric if found.objective else ""))
    if not choice:
        ax.legend(fontsize=6.5, loc="upper center")


def _region(ax: "Axes", found: "Comparison", i: "Importance") -> None:
    """The range of a numeric setting that is as good as the best level."""
    region = next((r for r in found.sensitivity.regions if r.key == i.key and not r.free), None)
    if region is not None and i.scale != "choice":
        ends = float(region.levels[0]), float(region.levels[-1])
        colour = COLOURS["level_down"]
        ax.axvspan(*ends, color=colour, alpha=0.12, linewidth=0, label="as good as the best")


def _axis(ax: "Axes", i: "Importance", x: Floats, *, vertical: bool = False) -> None:
    """Logarithmic where the setting is; a tick for each level if there are few."""
    from matplotlib.ticker import NullFormatter

    axis = ax.yaxis if vertical else ax.xaxis
    if i.scale == "log" and x.min() > 0:
        (ax.set_yscale if vertical else ax.set_xscale)("log")
        axis.set_minor_formatter(NullFormatter())
    levels = np.unique(x)
    if levels.size <= MAX_LEVEL_TICKS:
        axis.set_ticks(levels)
        axis.set_ticks([], minor=True)
        axis.set_major_formatter(number_format(4))


def _limits(ax: "Axes", values: Floats, band: Floats) -> None:
    """Limits that a few extreme runs do not flatten."""
    low, high = np.quantile(values, (0.0, 0.95))
    span = max(float(high - low), 1e-12)
    ax.set_ylim(min(low, band.min()) - 0.08 * span, max(high, min(band.max(), high + span)) + 0.25 * span)


def _plane(ax: "Axes", found: "Comparison", a: "Importance", b: "Importance") -> None:
    """All runs over the two most important settings: the rank as colour, unstable runs as crosses."""
    every = found.runs.select(
        x=pl.col(f"config.{a.key}").cast(pl.Float64, strict=False),
        y=pl.col(f"config.{b.key}").cast(pl.Float64, strict=False),
        objective=pl.when(pl.col("left_out").is_null()).then(pl.col("objective")),
        failed="unstable",
    ).drop_nulls(["x", "y"])
    good = every.drop_nulls("objective")
    values = good["objective"].to_numpy()
    turned = found.objective is not None and found.objective.worse == "down"
    ranks = np.argsort(np.argsort(-values if turned else values)) / max(values.size - 1, 1)
    shown: dict[str, Any] = {"c": ranks, "cmap": "viridis_r", "s": 16, "linewidths": 0}
    dots = ax.scatter(good["x"].to_numpy(), good["y"].to_numpy(), **shown)
    bad = every.filter("failed")
    ax.plot(bad["x"].to_numpy(), bad["y"].to_numpy(), "x", color=FAILED, markersize=4, label="unstable")
    _axis(ax, a, every["x"].to_numpy())
    _axis(ax, b, every["y"].to_numpy(), vertical=True)
    ax.set_xlabel(_name(a.key))
    ax.set_ylabel(_name(b.key))
    ax.set_title("Runs by rank", loc="left")
    bar = ax.figure.colorbar(dots, ax=ax, ticks=[0, 1])
    bar.ax.set_yticklabels(["best", "worst"])
    if bad.height:
        ax.legend(fontsize=6.5)


def _law(ax: "Axes", fit: "ScalingFit") -> None:
    """Points, the law, and its extrapolation."""
    points, curve = np.array(fit.points), np.array(fit.curve)
    ax.fill_between(curve[:, 0], curve[:, 2], curve[:, 3], color=COLOURS["curve"], alpha=0.2, linewidth=0)
    inside = curve[:, 0] <= points[:, 0].max()
    ax.plot(curve[inside, 0], curve[inside, 1], color=COLOURS["curve"], linewidth=1.4)
    ax.plot(curve[~inside, 0], curve[~inside, 1], ":", color=COLOURS["curve"], linewidth=1.2, label="beyond the runs")
    ax.plot(points[:, 0], points[:, 1], "o", color="0.3", markersize=3)
    _logarithmic(ax)
    ax.set_xlabel(fit.x)
    ax.set_title(f"loss over {fit.x}", loc="left")
    ax.legend(fontsize=6.5)


def _law_of_two(ax: "Axes", fit: "ScalingFit") -> None:
    """The law of two axes: over the first axis, a line for each of a few sizes of the second."""
    points = np.array(fit.points)
    e, a, alpha, b, beta = (fit.parameters[name][0] for name in ("E", "A", "alpha", "B", "beta"))
    first, second = fit.x.split(", ")
    x = np.geomspace(points[:, 0].min(), points[:, 0].max() * 4, 60)
    sizes = np.unique(points[:, 1])
    sizes = sizes[np.unique(np.linspace(0, sizes.size - 1, MAX_LAW_LINES).round().astype(int))]
    for i, size in enumerate(sizes):
        colour = str(0.75 - 0.75 * i / max(sizes.size - 1, 1))
        own = points[points[:, 1] == size]
        ax.plot(x, e + a * x**-alpha + b * size**-beta, color=colour, linewidth=1.1)
        ax.plot(own[:, 0], own[:, 2], "o", color=colour, markersize=3, label=f"{size:.2g} {second}")
    ax.axhline(e, color=COLOURS["level_down"], linestyle="--", linewidth=1, label="limit")
    _logarithmic(ax)
    ax.set_xlabel(first)
    ax.set_title(f"loss over {fit.x}", loc="left")
    ax.legend(fontsize=6.5)


def _logarithmic(ax: "Axes") -> None:
    """Both axes. A loss spans less than a decade, so its ticks are plain numbers."""
    ax.set_xscale("log")
    ax.set_yscale("log")
    for set_formatter in (ax.yaxis.set_major_formatter, ax.yaxis.set_minor_formatter):
        set_formatter(number_format(3))


def _runs(found: "Comparison", i: "Importance") -> pl.DataFrame:
    """Level and objective of the compared runs that logged a setting."""
    column = pl.col(f"config.{i.key}")
    x = column.str.strip_chars() if i.scale == "choice" else column.cast(pl.Float64, strict=False)
    known = found.runs.filter(pl.col("left_out").is_null()).select("objective", x=x).drop_nulls()
    return known.filter(pl.col("x").is_in([p["level"] for p in i.profile])) if i.scale == "choice" else known


def _name(text: str) -> str:
    return literal(text, NAME_LENGTH)
