"""The timeline below the curves: every event at its step, with its range, numbered as in the list."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from loganalyst.model import TimelineEvent
from loganalyst.report.common.html.element import Html, element
from loganalyst.report.diagnosis.html.axis import Axis, percent
from loganalyst.report.diagnosis.html.marks import at_step

ROW_HEIGHT = 24  # pixels
MIN_DISTANCE = 0.035  # share of the width; closer events go to different rows
MAX_ROWS = 6


def svg(events: Sequence[TimelineEvent], x: Axis, grid: Html, words: str) -> Html:
    """The picture. Events without a step or outside the axis appear only in the list."""
    rows = _rows(events, x)
    height = ROW_HEIGHT * (max(rows.values(), default=0) + 1) + 6
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
    """Height of the picture in pixels; 0 where no event has a place on the axis."""
    rows = _rows(events, x)
    return ROW_HEIGHT * (max(rows.values()) + 1) + 6 if rows else 0


def _rows(events: Sequence[TimelineEvent], x: Axis) -> dict[int, int]:
    """The row of each event: the first row with nothing close by."""
    ends = [-1.0] * MAX_ROWS
    rows: dict[int, int] = {}
    for i, event in sorted(enumerate(events), key=lambda pair: pair[1].step or 0):
        if event.step is None or not x.low <= event.step <= x.high:
            continue
        share = float(x.at(np.array([float(event.step)]))[0])
        row = next((r for r in range(MAX_ROWS) if ends[r] + MIN_DISTANCE <= share), int(np.argmin(ends)))
        ends[row], rows[i] = share, row
    return rows


def _event(i: int, event: TimelineEvent, row: int, x: Axis) -> list[Html]:
    middle = ROW_HEIGHT * row + ROW_HEIGHT / 2 + 3
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
