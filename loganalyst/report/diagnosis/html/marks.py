"""Findings on curves as SVG signs in their panel. The script moves them when the panel is zoomed."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from loganalyst.model import Curve
from loganalyst.report.common.curvemarks import MARKS, findings_on, spike_peak
from loganalyst.report.common.html.element import Html, element
from loganalyst.report.diagnosis.html.axis import Axis, percent
from loganalyst.report.diagnosis.html.plotlayout import Plot

MAX_MARKS = 60  # of one kind in a panel


def marks(p: Plot, findings: pl.DataFrame, onset: int | None) -> Iterator[Html]:
    """The marks of every curve of a panel, and the onset of the trouble."""
    for curve in p.panel.curves:
        yield from _nonfinite(p, curve)
        yield from _findings(p, curve, findings_on(curve, findings))
    if onset is not None and p.panel.shared:
        foot = f"M-6 {p.height}h12l-6 -9z"
        yield at_step(p.x, onset, [element("path", d=f"M0 0V{p.height}"), element("path", d=foot)], "onset")


def at_step(x: Axis, step: int, children: Any, kind: str, **more: Any) -> Html:
    """A place on the step axis that the script moves when the panel is zoomed."""
    share = float(x.at(np.array([float(step)]))[0])
    return element("svg", children, x=percent(share), class_=f"at m-{kind}", data_at=str(step), **more)


def _nonfinite(p: Plot, curve: Curve) -> Iterator[Html]:
    """A sign at the top edge where values are NaN or infinite."""
    steps = curve.steps[~np.isfinite(curve.values)]
    for i in np.unique(np.linspace(0, steps.size - 1, min(steps.size, MAX_MARKS)).astype(int)):
        yield at_step(p.x, int(steps[i]), element("path", d="M-4.5 -1h9l-4.5 8z"), "nonfinite")


def _findings(p: Plot, curve: Curve, found: pl.DataFrame) -> Iterator[Html]:
    """The most significant findings of each kind."""
    for kind in found["kind"].unique(maintain_order=True):
        of_kind = found.filter(pl.col("kind") == kind).sort("significance", descending=True, nulls_last=True)
        for row in of_kind.head(MAX_MARKS).iter_rows(named=True):
            yield from _mark(p, curve, row)


def _mark(p: Plot, curve: Curve, row: dict[str, Any]) -> Iterator[Html]:
    """A band, a ring around a spike, or a line down the panel. `_nonfinite` marks the "span" style."""
    kind, style = row["kind"], MARKS[row["kind"]][1]
    if style == "point":
        if (peak := spike_peak(curve, row)) is not None:
            up = p.height * (1 - float(p.y.at(curve.values[peak : peak + 1])[0]))
            ring = element("circle", cy=round(min(max(up, 4), p.height), 1), r="4.5")
            yield at_step(p.x, int(curve.steps[peak]), ring, kind, data_y=f"{curve.values[peak]:.6g}")
    elif style == "band":
        last = row["end_step"] if row["end_step"] is not None else int(curve.steps[-1])
        low, high = np.clip(p.x.at(np.array([row["step"], last], float)), 0, 1).tolist()
        place: dict[str, Any] = {"x": percent(low), "width": percent(high - low), "height": p.height}
        yield element("rect", **place, class_=f"over m-{kind}", data_from=str(row["step"]), data_to=str(last))
    elif style != "span":
        yield at_step(p.x, row["step"], element("path", d=f"M0 0V{p.height}"), kind)
