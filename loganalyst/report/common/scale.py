"""How a curve is drawn whatever draws it: its value axis, where its line breaks, whether its steps are the others'."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loganalyst.model import Curve, Role

PAUSE = 20  # times the usual distance, and one in so many of all steps: a pause in the log
NOISY = 300  # points from which on a line through their local medians helps the eye
DECADES = 30.0  # ratio from which on a positive curve has a logarithmic axis
FAR = 12.0  # spreads of the bulk beyond which single points would flatten the rest
WHOLE = 0.002  # share of points on each side that may lie outside of a linear axis
FEWEST = 3  # points that make a curve
SAME_UNIT = 20  # a curve whose steps span less than one in so many counts something else


@dataclass(frozen=True)
class Scale:
    """A value axis: logarithmic or linear; `low` to `high` where a few of the values lie outside, else None; how many
    those are, and the farthest.
    """

    log: bool
    low: float | None = None
    high: float | None = None
    outside: int = 0
    farthest: float = 0.0


def scale(values: NDArray[np.float64], role: Role) -> Scale:
    """Of finite values, one or more: logarithmic for positive curves over decades whose small values are the good ones
    (not for scores, and for rates over many decades only); else limits that few extremes do not flatten.
    """
    decades = 1e4 if role.name == "learning_rate" else DECADES
    if role.worse != "down" and values.min() > 0 and values.max() > decades * values.min():
        return Scale(log=True)
    low, high = np.quantile(values, [WHOLE, 1 - WHOLE]) if values.size >= NOISY else (values.min(), values.max())
    bulk = float(np.subtract(*np.quantile(values, [0.9, 0.1])))
    far = (values > high + FAR * bulk) | (values < low - FAR * bulk)
    if not bulk > 0 or not far.any():
        return Scale(log=False)
    inside = values[~far]
    pad = 0.06 * float(np.ptp(inside))
    farthest = float(values[far][np.argmax(np.abs(values[far]))])
    return Scale(False, float(inside.min()) - pad, float(inside.max()) + pad, int(far.sum()), farthest)


def stretches(steps: NDArray[np.int64]) -> list[int]:
    """Edges of what was logged without a long pause, from 0 to the number of steps: a line across one is invented."""
    apart = np.diff(steps)
    long = apart > max(PAUSE * np.median(apart), np.ptp(steps) / PAUSE) if apart.size > PAUSE else np.zeros(0, bool)
    return [0, *(np.flatnonzero(long) + 1).tolist(), steps.size]


def aligned(curve: Curve, busiest: Curve) -> bool:
    """Whether a curve counts the same steps as the busiest one; of one or two points whether they lie among them."""
    if len(curve.values) < FEWEST:
        return bool(busiest.steps[0] <= curve.steps[-1] <= busiest.steps[-1])
    span, whole = (int(c.steps[-1]) - int(c.steps[0]) for c in (curve, busiest))
    return whole <= SAME_UNIT * span and span <= SAME_UNIT * whole
