"""The timeline under the curves: every event at its step, with the range it lies in, numbered as in the list."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from loganalyst.model import TimelineEvent
from loganalyst.report.common.html.element import Html, element
from loganalyst.report.diagnosis.html.axis import Axis, percent
from loganalyst.report.diagnosis.html.marks import at_step

ROW = 24  # pixels
NEAR = 0.035  # of the width: two numbers nearer than this stand under each other
ROWS = 6


def svg(events: Sequence[TimelineEvent], x: Axis, grid: Html, words: str) -> Html:
    """The picture; events without a step, or outside of the axis, are in the list alone."""
    rows = _rows(events, x)
    height = ROW * (max(rows.values(), default=0) + 1) + 6
    return element(
        "svg",
        element("g", grid, class_="ticks"),
        element("g", [_event(i, events[i], row, x) for i, row in rows.items()], class_="marks"),
        height=height,
        class_="plot strip",
        role="img",
        aria_label=words,
    )


def height(events: Sequence[TimelineEvent], x: Axis) -> int:
    """Pixels of the picture; 0 where no event has a place on the axis."""
    rows = _rows(events, x)
    return ROW * (max(rows.values()) + 1) + 6 if rows else 0


def _rows(events: Sequence[TimelineEvent], x: Axis) -> dict[int, int]:
    """The row of each event: the first in which nothing stands near."""
    ends = [-1.0] * ROWS
    rows: dict[int, int] = {}
    for i, event in sorted(enumerate(events), key=lambda pair: pair[1].step or 0):
        if event.step is None or not x.low <= event.step <= x.high:
            continue
        share = float(x.at(np.array([float(event.step)]))[0])
        row = next((r for r in range(ROWS) if ends[r] + NEAR <= share), int(np.argmin(ends)))
        ends[row], rows[i] = share, row
    return rows


def _event(i: int, event: TimelineEvent, row: int, x: Axis) -> list[Html]:
    middle = ROW * row + ROW / 2 + 3
    parts = []
    if event.low is not None and event.high is not None:
        low, high = np.clip(x.at(np.array([event.low, event.high])), 0, 1).tolist()
        where = {"data_from": f"{event.low:g}", "data_to": f"{event.high:g}"}
        bar: dict[str, Any] = {"x": percent(low), "width": percent(high - low), "y": middle - 3, "height": 6, "rx": 3}
        parts.append(element("rect", **bar, class_=f"over range m-{event.kind}", **where))
    sign = [
        element("circle", cy=middle, r=9.5),
        element("text", str(i + 1), y=middle + 3.8),
        element("title", f"step {event.step:,}"),
    ]
    return [*parts, at_step(x, event.step or 0, sign, f"{event.kind} event")]
