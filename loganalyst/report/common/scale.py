"""How a curve is drawn, in every renderer: its value axis, breaks in its line, medians, and whether steps align."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loganalyst.model import Curve, Role
from loganalyst.report.common.curvemarks import RATE

Floats = NDArray[np.float64]
Steps = NDArray[np.int64]

PAUSE_FACTOR = 20  # a pause in the log is longer than this many usual distances, and than 1/20 of all steps
MIN_POINTS_FOR_MEDIANS = 300  # from here on a line through local medians helps the eye
LOG_RATIO, LOG_RATIO_OF_RATES = 30.0, 1e4  # largest to smallest value from which on the axis is logarithmic
OUTLIER_SPREADS = 12.0  # spreads of the bulk beyond which single points would flatten the rest
OUTLIER_SHARE = 0.002  # share of points on each side that may lie outside a linear axis
MIN_CURVE_POINTS = 3  # points that make a curve
SAME_UNIT_FACTOR = 20  # a curve that spans less than 1/20 of the steps of another counts something else, such as epochs


@dataclass(frozen=True)
class Scale:
    """A value axis. `low` to `high` are its limits where a few values lie `outside`, otherwise None; `farthest` is the
    most extreme of those values.
    """

    log: bool
    low: float | None = None
    high: float | None = None
    outside: int = 0
    farthest: float = 0.0


def scale(values: Floats, role: Role) -> Scale:
    """The axis for one or more finite values.

    It is logarithmic for positive curves over decades whose small values are the good ones (not for scores, and for
    learning rates over many decades only). Otherwise it is linear, with limits that a few extremes do not flatten.
    """
    ratio = LOG_RATIO_OF_RATES if role.name == RATE else LOG_RATIO
    if role.worse != "down" and values.min() > 0 and values.max() > ratio * values.min():
        return Scale(log=True)
    many = values.size >= MIN_POINTS_FOR_MEDIANS
    low, high = np.quantile(values, [OUTLIER_SHARE, 1 - OUTLIER_SHARE]) if many else (values.min(), values.max())
    bulk = float(np.subtract(*np.quantile(values, [0.9, 0.1])))
    far = (values > high + OUTLIER_SPREADS * bulk) | (values < low - OUTLIER_SPREADS * bulk)
    if not bulk > 0 or not far.any():
        return Scale(log=False)
    inside = values[~far]
    pad = 0.06 * float(np.ptp(inside))
    farthest = float(values[far][np.argmax(np.abs(values[far]))])
    return Scale(False, float(inside.min()) - pad, float(inside.max()) + pad, int(far.sum()), farthest)


def stretches(steps: Steps) -> list[int]:
    """Edges of the stretches without a long pause, from 0 to the number of steps. No line is drawn across a pause."""
    apart = np.diff(steps)
    if apart.size <= PAUSE_FACTOR:
        return [0, steps.size]
    long = apart > max(PAUSE_FACTOR * np.median(apart), np.ptp(steps) / PAUSE_FACTOR)
    return [0, *(np.flatnonzero(long) + 1).tolist(), steps.size]


def local_medians(steps: Steps, values: Floats, size: int) -> tuple[Steps, Floats]:
    """The middle step and the median of each full group of `size` points."""
    whole = values.size // size * size
    return steps[:whole].reshape(-1, size)[:, size // 2], np.median(values[:whole].reshape(-1, size), axis=1)


def aligned(curve: Curve, busiest: Curve) -> bool:
    """Whether a curve counts the same steps as the busiest one. One or two points are aligned if they lie within."""
    if len(curve.values) < MIN_CURVE_POINTS:
        return bool(busiest.steps[0] <= curve.steps[-1] <= busiest.steps[-1])
    span, whole = (int(c.steps[-1]) - int(c.steps[0]) for c in (curve, busiest))
    return whole <= SAME_UNIT_FACTOR * span and span <= SAME_UNIT_FACTOR * whole
