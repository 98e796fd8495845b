"""The layout of a panel: its axes, and the points and medians of each curve."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from loganalyst.model import Curve
from loganalyst.report.common.curvemarks import RATE
from loganalyst.report.common.scale import MIN_POINTS_FOR_MEDIANS, Floats, Steps, local_medians, scale, stretches
from loganalyst.report.diagnosis.html.axis import Axis, fitted
from loganalyst.report.diagnosis.html.curves import Panel, thinned

HEIGHT, LOW_HEIGHT = 168, 84  # pixels of a panel, and of a panel of learning rates
MEDIANS = 200  # points of the line through the medians


@dataclass(frozen=True)
class Line:
    """One curve of a panel: its points, and the local medians of a long curve. A NaN in x breaks the line."""

    name: str
    x: Floats
    y: Floats
    middle_x: Floats
    middle_y: Floats


@dataclass(frozen=True)
class Plot:
    """A panel with its axes. `outside` counts the values beyond the value axis; `farthest` is the most extreme one."""

    panel: Panel
    x: Axis
    y: Axis
    lines: tuple[Line, ...]
    height: int
    outside: int
    farthest: float


def plot(panel: Panel, x: Axis, max_points: int) -> Plot:
    """Lay out a panel with about `max_points` points of each curve at most."""
    finite = [c.values[np.isfinite(c.values)] for c in panel.curves]
    every = np.concatenate(finite)
    rate = panel.curves[0].role.name == RATE
    y, outside, farthest = Axis(0.0, 1.0), 0, 0.0
    if every.size:
        chosen = scale(every, panel.curves[0].role)
        outside, farthest = chosen.outside, chosen.farthest
        y = fitted(every, log=chosen.log)
        if chosen.low is not None and chosen.high is not None and chosen.low < chosen.high:
            y = Axis(chosen.low, chosen.high)
    lines = tuple(_line(c, max_points, rate) for c in panel.curves)
    return Plot(panel, x, y, lines, LOW_HEIGHT if rate else HEIGHT, outside, farthest)


def steps_axis(curves: Iterable[Curve]) -> Axis:
    """From the first to the last step of all curves."""
    ends = [(int(c.steps.min()), int(c.steps.max())) for c in curves]
    low, high = min(e[0] for e in ends), max(e[1] for e in ends)
    return Axis(float(low), float(high if high > low else low + 1))


def _line(curve: Curve, max_points: int, rate: bool) -> Line:
    keep = thinned(curve.values, max_points)
    x, y = _broken(curve.steps[keep], curve.values[keep], stretches(curve.steps[keep]))
    finite = np.isfinite(curve.values)
    many = not rate and finite.sum() >= MIN_POINTS_FOR_MEDIANS
    middle = _medians(curve.steps[finite], curve.values[finite]) if many else (x[:0], x[:0])
    return Line(curve.metric, x, y, *middle)


def _medians(steps: Steps, values: Floats) -> tuple[Floats, Floats]:
    """Medians within each stretch, with a break between stretches."""
    size = max(values.size // MEDIANS, 3)
    parts = [local_medians(steps[first:end], values[first:end], size) for first, end in pairwise(stretches(steps))]
    at, middle = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return _broken(at, middle, np.cumsum([len(part[0]) for part in parts]).tolist())


def _broken(steps: Steps, values: Floats, cuts: Sequence[int]) -> tuple[Floats, Floats]:
    """The points with a NaN step at each cut, which breaks the line."""
    inner = sorted({c for c in cuts if 0 < c < len(steps)})
    return np.insert(steps.astype(float), inner, np.nan), np.insert(values, inner, np.nan)
