"""A panel as SVG that needs no script: lines, ticks, what was found. Widths are per cent, heights pixels, so that text
keeps its size on every screen; lines lie in a box of their own that is stretched to the panel.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.model import Curve
from loganalyst.report.html.axis import Axis, Floats, fitted, label
from loganalyst.report.html.curves import Panel, thinned
from loganalyst.report.html.element import Html, element
from loganalyst.report.panels import MARKS
from loganalyst.report.scale import NOISY, scale, stretches
from loganalyst.report.text import number

WIDE, HIGH = 1000, 100  # units of the box that lines are drawn in
HEIGHT, LOW_HEIGHT = 168, 84  # pixels of a panel; of one of learning rates
DRAWN = 900  # points of a line before it is zoomed
MEDIANS = 200
FEW = 60  # points that are drawn as such
MARKED = 60  # marks of one kind in a panel


@dataclass(frozen=True)
class Line:
    """One curve of a panel: its points, and for noisy ones the medians of groups; NaN x is a break of the line."""

    name: str
    x: Floats
    y: Floats
    middle_x: Floats
    middle_y: Floats


@dataclass(frozen=True)
class Plot:
    """A panel with its axes. `outside` values lie beyond the axis of values, `farthest` among them."""

    panel: Panel
    x: Axis
    y: Axis
    lines: tuple[Line, ...]
    height: int
    outside: int
    farthest: float


def plot(panel: Panel, x: Axis, most: int) -> Plot:
    """Lay out a panel; of each curve at most about `most` points are kept."""
    finite = [c.values[np.isfinite(c.values)] for c in panel.curves]
    every = np.concatenate(finite)
    rate = panel.curves[0].role.name == "learning_rate"
    y, outside, farthest = Axis(0.0, 1.0), 0, 0.0
    if every.size:
        chosen = scale(every, panel.curves[0].role)
        outside, farthest = chosen.outside, chosen.farthest
        y = fitted(every, log=chosen.log)
        if chosen.low is not None and chosen.high is not None and chosen.low < chosen.high:
            y = Axis(chosen.low, chosen.high)
    lines = tuple(_line(c, most, rate) for c in panel.curves)
    return Plot(panel, x, y, lines, LOW_HEIGHT if rate else HEIGHT, outside, farthest)


def steps_axis(curves: Iterable[Curve]) -> Axis:
    """From the first to the last step of all curves."""
    ends = [(int(c.steps.min()), int(c.steps.max())) for c in curves]
    low, high = min(e[0] for e in ends), max(e[1] for e in ends)
    return Axis(float(low), float(high if high > low else low + 1))


def _line(curve: Curve, most: int, rate: bool) -> Line:
    keep = thinned(curve.values, most)
    x, y = _broken(curve.steps[keep], curve.values[keep], stretches(curve.steps[keep]))
    finite = np.isfinite(curve.values)
    middle = _medians(curve.steps[finite], curve.values[finite]) if not rate and finite.sum() >= NOISY else (x[:0],) * 2
    return Line(curve.metric, x, y, *middle)


def _medians(steps: NDArray[np.int64], values: Floats) -> tuple[Floats, Floats]:
    """Of each stretch by itself; broken between them."""
    size = max(values.size // MEDIANS, 3)
    at, middle, cuts = [np.zeros(0, np.int64)], [np.zeros(0)], [0]
    for first, end in pairwise(stretches(steps)):
        whole = (end - first) // size * size
        at.append(steps[first : first + whole].reshape(-1, size)[:, size // 2])
        middle.append(np.median(values[first : first + whole].reshape(-1, size), axis=1))
        cuts.append(cuts[-1] + whole // size)
    return _broken(np.concatenate(at), np.concatenate(middle), cuts)


def _broken(steps: NDArray[np.int64], values: Floats, cuts: Sequence[int]) -> tuple[Floats, Floats]:
    """With NaN steps where a line is broken off."""
    inner = sorted({c for c in cuts if 0 < c < len(steps)})
    return np.insert(steps.astype(float), inner, np.nan), np.insert(values, inner, np.nan)


def svg(plot_: Plot, findings: pl.DataFrame, onset: int | None, words: str) -> Html:
    """The picture; `words` say what it shows."""
    p = plot_
    lines = [drawn for i, line in enumerate(p.lines) for drawn in _paths(p, line, i)]
    box: dict[str, Any] = {
        "viewBox": f"0 0 {WIDE} {HIGH}",
        "preserveAspectRatio": "none",
        "width": "100%",
        "height": p.height,
    }
    return element(
        "svg",
        element("g", ticks(p.x, p.y, p.height), class_="ticks"),
        element("svg", element("g", lines), class_="lines", **box),
        element("g", _marks(p, findings, onset), class_="marks"),
        height=p.height,
        class_="plot",
        role="img",
        aria_label=words,
    )


def _paths(p: Plot, line: Line, i: int) -> Iterator[Html]:
    """The points, faint where their medians are drawn over them; a few points as dots too."""
    keep = thinned(np.where(np.isnan(line.x), np.nan, line.y), DRAWN)
    x, y = line.x[keep], line.y[keep]
    faint = bool(line.middle_x.size)
    yield element("path", d=path(p.x, p.y, x, y), class_=f"k{i} {'faint' if faint else 'full'}")
    yield element("path", d=path(p.x, p.y, line.middle_x, line.middle_y), class_=f"k{i} middle") if faint else Html()
    if np.isfinite(y).sum() < FEW:
        yield element("path", d=path(p.x, p.y, x, y, dots=True), class_=f"k{i} dots")


def path(x: Axis, y: Axis, steps: Floats, values: Floats, *, dots: bool = False) -> str:
    """The `d` of a line through finite points, broken where one is missing."""
    at, up = x.at(steps) * WIDE, np.clip((1 - y.at(values)) * HIGH, -HIGH, 2 * HIGH)
    ok = np.isfinite(steps) & np.isfinite(values)
    start = ok & ~np.concatenate([[False], ok[:-1]])
    if dots:
        return "".join(f"M{a:.1f} {b:.1f}h0" for a, b in zip(at[ok].tolist(), up[ok].tolist(), strict=True))
    rows = zip(start[ok].tolist(), at[ok].tolist(), up[ok].tolist(), strict=True)
    return "".join(f"{'M' if first else 'L'}{a:.1f} {b:.1f}" for first, a, b in rows)


def ticks(x: Axis, y: Axis, height: int) -> Iterator[Html]:
    """Lines and numbers of both axes."""
    up = y.ticks(2 if height < HEIGHT else 4)
    for value, share in zip(up, y.at(np.array(up)).tolist(), strict=True):
        at = height * (1 - share)
        yield element("line", x1="0", x2="100%", y1=round(at, 1), y2=round(at, 1))
        yield element("text", label(value), x="-8", y=round(at + 3.5, 1), class_="y")
    yield from step_ticks(x, height)


def step_ticks(x: Axis, height: int) -> Iterator[Html]:
    """Lines and numbers of the step axis; steps are whole."""
    along = [t for t in x.ticks(6) if t == int(t)]
    for value, share in zip(along, x.at(np.array(along)).tolist(), strict=True):
        yield element("line", x1=percent(share), x2=percent(share), y1="0", y2=height)
        yield element("text", f"{int(value):,}", x=percent(share), y=height + 15, class_="x")


def percent(share: float) -> str:
    """A share of the width."""
    return f"{100 * share:.3f}%"


def _marks(p: Plot, findings: pl.DataFrame, onset: int | None) -> Iterator[Html]:
    for curve in p.panel.curves:
        yield from _lost(p, curve)
        yield from _found(p, curve, shown(curve, findings))
    if onset is not None and p.panel.shared:
        foot = f"M-6 {p.height}h12l-6 -9z"
        yield at_step(p.x, onset, [element("path", d=f"M0 0V{p.height}"), element("path", d=foot)], "onset")


def at_step(x: Axis, step: int, children: Any, kind: str, **more: Any) -> Html:
    """A place on the step axis that the script moves when it is zoomed."""
    share = float(x.at(np.array([float(step)]))[0])
    return element("svg", children, x=percent(share), class_=f"at m-{kind}", data_at=str(step), **more)


def _lost(p: Plot, curve: Curve) -> Iterator[Html]:
    """A sign at the top edge where values are NaN or infinite."""
    steps = curve.steps[~np.isfinite(curve.values)]
    for i in np.unique(np.linspace(0, steps.size - 1, min(steps.size, MARKED)).astype(int)):
        yield at_step(p.x, int(steps[i]), element("path", d="M-4.5 -1h9l-4.5 8z"), "nonfinite")


def shown(curve: Curve, findings: pl.DataFrame) -> pl.DataFrame:
    """The findings on a curve that have a sign and a place; what a schedule does to its rate is none."""
    if curve.role.name == "learning_rate":
        return findings.clear()
    on_curve = pl.col("metric") == curve.metric
    return findings.filter(on_curve, pl.col("step").is_not_null(), pl.col("kind").is_in(list(MARKS)))


def _found(p: Plot, curve: Curve, found: pl.DataFrame) -> Iterator[Html]:
    for kind in found["kind"].unique(maintain_order=True):
        of_kind = found.filter(pl.col("kind") == kind).sort("significance", descending=True, nulls_last=True)
        for row in of_kind.head(MARKED).iter_rows(named=True):
            yield from _mark(p, curve, row)


def _mark(p: Plot, curve: Curve, row: dict[str, Any]) -> Iterator[Html]:
    """A band, a ring around a spike, or a line down the panel; where it became non-finite is told by `_lost`."""
    kind, style = row["kind"], MARKS[row["kind"]][1]
    if style == "point":
        last = row["end_step"] if row["end_step"] is not None else row["step"]
        at = np.flatnonzero((curve.steps >= row["step"]) & (curve.steps <= last) & np.isfinite(curve.values))
        if at.size:
            peak = at[np.argmax(np.abs(curve.values[at] - np.nanmedian(curve.values[np.isfinite(curve.values)])))]
            up = p.height * (1 - float(p.y.at(curve.values[peak : peak + 1])[0]))
            ring = element("circle", cy=round(min(max(up, 4), p.height), 1), r="4.5")
            yield at_step(p.x, int(curve.steps[peak]), ring, kind, data_y=f"{curve.values[peak]:.6g}")
    elif style == "band":
        last = row["end_step"] if row["end_step"] is not None else int(curve.steps[-1])
        low, high = np.clip(p.x.at(np.array([row["step"], last], float)), 0, 1).tolist()
        where = {"data_from": str(row["step"]), "data_to": str(last)}
        yield element(
            "rect", x=percent(low), width=percent(high - low), height=p.height, class_=f"over m-{kind}", **where
        )
    elif style != "span":
        yield at_step(p.x, row["step"], element("path", d=f"M0 0V{p.height}"), kind)


def packed(plot_: Plot) -> dict[str, Any]:
    """What the script draws from: axes, and of each line the steps (differences), values and medians."""
    p = plot_
    return {
        "x": [p.x.low, p.x.high],
        "y": [_short(p.y.low), _short(p.y.high)],
        "log": p.y.log,
        "lines": [
            {
                "name": line.name,
                **_points("x", "y", line.x, line.y),
                **_points("mx", "my", line.middle_x, line.middle_y),
            }
            for line in p.lines
        ],
    }


def _points(x: str, y: str, steps: Floats, values: Floats) -> dict[str, list[Any]]:
    """Steps as differences to the one before, None for a break; values to five digits, text where not finite."""
    known = ~np.isnan(steps)
    apart = np.zeros(len(steps))
    apart[known] = np.diff(steps[known], prepend=0.0)
    differences = [int(a) if k else None for a, k in zip(apart.tolist(), known.tolist(), strict=True)]
    return {x: differences, y: [_short(v) if k else None for v, k in zip(values.tolist(), known.tolist(), strict=True)]}


def _short(value: float) -> float | int | str:
    if not isfinite(value):
        return number(value)
    short = float(f"{value:.5g}")
    return int(short) if short.is_integer() and abs(short) < 1e9 else short
