"""A panel as SVG that needs no script: lines, ticks, what was found. Widths are per cent, heights pixels, so that text
keeps its size on every screen; lines lie in a box of their own that is stretched to the panel.
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

WIDE, HIGH = 1000, 100  # units of the box that lines are drawn in
DRAWN = 900  # points of a line before it is zoomed
FEW = 60  # points that are drawn as such


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
        element("g", marks(p, findings, onset), class_="marks"),
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
