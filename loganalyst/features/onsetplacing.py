"""The place of an onset: the interval in which a curve left its usual course, and its steps on a common axis."""

import numpy as np
from numpy.typing import NDArray

from loganalyst.features.context import median
from loganalyst.features.run import COUNTERS
from loganalyst.model import Curve
from loganalyst.thresholds import feature_limit

FINDING_ERROR = 0.05  # uncertainty of the place of a finding, as a share of the curve
MIN_USUAL_POINTS = 5  # points for the usual course
MIN_BLOCKS = 400  # a longer curve is reduced to at least so many medians
SMALL_SAMPLE = 4.0  # the noise of n points is widened by the factor 1 + 4/n
MAX_USUAL, MIN_BEYOND = 2.0, 4.0  # noise units up to which a point is usual, and above which it is beyond
SPEED_POINTS = 20  # points after the first one beyond that show how fast the curve moves on
NEXT_POINTS = 3  # points for the speed of a quick rise
LASTING_POINTS = 5  # points whose median must stay beyond


def bracket(curve: Curve, at: int) -> tuple[int, int, int]:
    """Positions: the last usual point, the earliest possible onset, and the first point beyond.

    The usual course is the level right before the finding, continued with its slope if it was rising. Long curves are
    reduced to medians. A curve that takes long from usual to beyond may have departed earlier by the same distance.
    """
    sign = -1.0 if curve.role.worse == "down" else 1.0
    where = np.flatnonzero(np.isfinite(curve.values))
    x = curve.values[where]
    size = max(1, x.size // MIN_BLOCKS)
    where, x = where[: x.size // size * size : size], np.median(x[: x.size // size * size].reshape(-1, size), axis=1)
    y = sign * (np.log(x) if x.min() > 0 else x)
    place = min(int(np.searchsorted(where, at)), y.size - 1)
    reach = max(MIN_USUAL_POINTS, int(np.ceil(FINDING_ERROR * y.size)))
    start, end = max(place - reach, 0), place + reach + 1
    usual = y[max(start - 3 * reach, 0) : start]
    wide = at - 1, int(where[start]) - 1, int(where[min(end, y.size) - 1])
    if usual.size < MIN_USUAL_POINTS:
        return wide
    beyond = _standardised(usual, y[start : end + SPEED_POINTS])
    lasting = (
        i
        for i in np.flatnonzero(beyond[: end - start] > MIN_BEYOND)
        if median(beyond[i : i + LASTING_POINTS]) > MIN_BEYOND
    )
    first = next(lasting, None)
    if first is None:
        return wide
    high = start + int(first)
    calm = np.flatnonzero(beyond[: high - start] < MAX_USUAL)
    last = start + int(calm[-1]) if calm.size else start - 1
    low = max(min(last - (high - last - 1), high - _points_from_usual(beyond[high - start :])), 0)
    return int(where[last]) + size - 1, int(where[low]) + size - 1, int(where[high]) + size - 1


def _points_from_usual(beyond: NDArray[np.float64]) -> int:
    """Number of points that a curve that continues to rise needs from usual to its first value here; 1 if it jumped.

    Measured over the next few points, and over more for a slow rise. A rise that noise can explain does not count.
    """
    quick = (beyond[NEXT_POINTS] - beyond[0]) / NEXT_POINTS if beyond.size > NEXT_POINTS else 0.0
    if quick * NEXT_POINTS > MIN_BEYOND:
        return int(np.ceil(beyond[0] / quick)) + 1
    ahead = beyond[:SPEED_POINTS]
    half = ahead.size // 2
    if half < LASTING_POINTS or ahead[0] > 2 * MIN_BEYOND:
        return 1
    slow = (median(ahead[half:]) - median(ahead[:half])) / half
    return int(np.ceil(ahead[0] / slow)) + 1 if slow * half > MAX_USUAL / 2 else 1


def _standardised(usual: NDArray[np.float64], later: NDArray[np.float64]) -> NDArray[np.float64]:
    """The distance of `later` above the course of `usual`, in units of its noise.

    The course is a line through the medians of the two halves of `usual`. It continues if it rises and becomes level if
    it falls.
    """
    half = usual.size // 2
    early, late = median(usual[:half]), median(usual[half:])
    slope = (late - early) / ((usual.size + 1) // 2 + half) * 2
    at = np.arange(usual.size + later.size) - (half + (usual.size - half - 1) / 2)
    if slope < 0:
        at = np.minimum(at, (usual.size - half - 1) / 2)
    rest = usual - late - slope * at[: usual.size]
    noise = 1.4826 * median(np.abs(rest - median(rest))) * (1 + SMALL_SAMPLE / usual.size)
    unit = max(noise, 1e-9 * float(np.abs(usual).max()), float(np.finfo(float).tiny))
    return np.asarray((later - late - slope * at[usual.size :]) / unit, np.float64)


def step_axis(curve: Curve, main: Curve) -> NDArray[np.float64] | None:
    """The steps of `main` at each point of `curve`: its own if both count the same, otherwise by the times of both."""
    span, whole = (int(c.steps[-1]) - int(c.steps[0]) for c in (curve, main))
    apart = feature_limit("counters_apart")
    same = whole <= apart * span and span <= apart * whole
    if same and curve.role.name not in COUNTERS:
        return curve.steps.astype(np.float64)
    timed = np.isfinite(main.times)
    if not np.isfinite(curve.times).all() or timed.sum() < 2:
        return None
    order = np.argsort(main.times[timed], kind="stable")
    return np.interp(curve.times, main.times[timed][order], main.steps[timed][order].astype(np.float64))
