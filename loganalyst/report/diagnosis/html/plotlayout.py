"""A panel laid out: its axes, and of each curve the points and medians that are drawn."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from loganalyst.model import Curve
from loganalyst.report.common.scale import NOISY, scale, stretches
from loganalyst.report.diagnosis.html.axis import Axis, Floats, fitted
from loganalyst.report.diagnosis.html.curves import Panel, thinned

HEIGHT, LOW_HEIGHT = 168, 84  # pixels of a panel; of one of learning rates
MEDIANS = 200


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
