"""A panel as SVG that needs no script: lines, ticks and marks.

Widths are per cent and heights are pixels, so that text keeps its size on every screen. Lines lie in their own box,
which is stretched to the panel.
"""

from collections.abc import Iterator
from math import isfinite
from typing import Any

import numpy as np
import polars as pl

from loganalyst.report.common.html.element import Html, element
from loganalyst.report.common.wording import number
from loganalyst.report.diagnosis.html.axis import Axis, Floats, label, percent
from loganalyst.report.diagnosis.html.curves import thinned
from loganalyst.report.diagnosis.html.marks import marks
from loganalyst.report.diagnosis.html.plotlayout import HEIGHT, Line, Plot

BOX_WIDTH, BOX_HEIGHT = 1000, 100  # units of the box that lines are drawn in
MAX_POINTS_DRAWN = 900  # of a line that is not zoomed
MAX_DOTS = 60  # a curve with fewer points shows each as a dot


def svg(plot_: Plot, findings: pl.DataFrame, onset: int | None, words: str) -> Html:
    """The picture; `words` describe it to a screen reader."""
    p = plot_
    lines = [drawn for i, line in enumerate(p.lines) for drawn in _paths(p, line, i)]
    box: dict[str, Any] = {
        "viewBox": f"0 0 {BOX_WIDTH} {BOX_HEIGHT}",
        "preserveAspectRatio": "none",
        "width": "100%",
        "height": p.height,
    }
    return element(
        "svg",
        element("g", ticks(p.x, p.y, p.height), class_="ticks"),
        element("svg", element("g", lines), class_="lines", **box),
        element("g", marks(p, findings, onset), class_="marks"),
        height=p.height,
        class_="plot",
        role="img",
        aria_label=words,
    )


def _paths(p: Plot, line: Line, i: int) -> Iterator[Html]:
    """The points, faint where medians are drawn over them. Few points are drawn as dots too."""
    keep = thinned(np.where(np.isnan(line.x), np.nan, line.y), MAX_POINTS_DRAWN)
    x, y = line.x[keep], line.y[keep]
    faint = bool(line.middle_x.size)
    yield element("path", d=path(p.x, p.y, x, y), class_=f"k{i} {'faint' if faint else 'full'}")
    yield element("path", d=path(p.x, p.y, line.middle_x, line.middle_y), class_=f"k{i} middle") if faint else Html()
    if np.isfinite(y).sum() < MAX_DOTS:
        yield element("path", d=path(p.x, p.y, x, y, dots=True), class_=f"k{i} dots")


def path(x: Axis, y: Axis, steps: Floats, values: Floats, *, dots: bool = False) -> str:
    """The path data (`d`) of a line through finite points, with a break where a point is missing."""
    at, up = x.at(steps) * BOX_WIDTH, np.clip((1 - y.at(values)) * BOX_HEIGHT, -BOX_HEIGHT, 2 * BOX_HEIGHT)
    ok = np.isfinite(steps) & np.isfinite(values)
    start = ok & ~np.concatenate([[False], ok[:-1]])
    if dots:
        return "".join(f"M{a:.1f} {b:.1f}h0" for a, b in zip(at[ok].tolist(), up[ok].tolist(), strict=True))
    rows = zip(start[ok].tolist(), at[ok].tolist(), up[ok].tolist(), strict=True)
    return "".join(f"{'M' if first else 'L'}{a:.1f} {b:.1f}" for first, a, b in rows)


def ticks(x: Axis, y: Axis, height: int) -> Iterator[Html]:
    """Grid lines and numbers of both axes."""
    up = y.ticks(2 if height < HEIGHT else 4)
    for value, share in zip(up, y.at(np.array(up)).tolist(), strict=True):
        at = height * (1 - share)
        yield element("line", x1="0", x2="100%", y1=round(at, 1), y2=round(at, 1))
        yield element("text", label(value), x="-8", y=round(at + 3.5, 1), class_="y")
    yield from step_ticks(x, height)


def step_ticks(x: Axis, height: int) -> Iterator[Html]:
    """Grid lines and numbers of the step axis, at whole steps only."""
    along = [t for t in x.ticks(6) if t == int(t)]
    for value, share in zip(along, x.at(np.array(along)).tolist(), strict=True):
        yield element("line", x1=percent(share), x2=percent(share), y1="0", y2=height)
        yield element("text", f"{int(value):,}", x=percent(share), y=height + 15, class_="x")


def packed(plot_: Plot) -> dict[str, Any]:
    """The script's data: axes, and the steps (as differences), values and medians of each line."""
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
    """Steps as differences from the one before, None for a break. Values have five digits; non-finite ones are text."""
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
