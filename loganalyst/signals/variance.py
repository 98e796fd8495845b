"""A change in the size of the noise."""

import numpy as np

from loganalyst.model import ChangePoint
from loganalyst.signals.bends import edges
from loganalyst.signals.preparedcurve import Prepared
from loganalyst.signals.robuststatistics import TINY, Array, blocks, median, medians, running_median, spread

MIN_SCORE = 4.5  # standard errors
MIN_NOISE_RATIO = 1.6  # smallest change of the noise that counts
MAX_BLOCKS = 250
MIN_CHANGE = 1.0  # mean |second difference| in units of the quantum that says more than rounding does
WIDTHS = (0.04, 0.08, 0.16)  # shares of the curve, on each side


def variance(p: Prepared) -> list[ChangePoint]:
    """Steps of log|second difference|; `effect` is the ratio new/old noise (below 1: it fell)."""
    n = p.y.size
    size = max(10, -(-n // MAX_BLOCKS))
    if n < 20 * size:
        return []
    changes = np.abs(np.diff(p.y, n=2, append=p.y[-2:]))
    rows = changes[: n // size * size].reshape(-1, size)
    rounding = MIN_CHANGE * blocks(p.step, size)[: len(rows)]
    floor = np.maximum(1e-3 * median(p.noise), rounding)
    scale = np.log(np.maximum(np.mean(np.minimum(rows, 4 * medians(rows)[:, None]), axis=1), floor))
    noise = np.full(scale.size, max(spread(scale - running_median(scale, 5)), 0.05))
    return [
        ChangePoint(
            _place(changes, e.index * size, size), None, "variance", float(np.exp(e.size)), 1 - 0.5 * MIN_SCORE / e.z
        )
        for e in edges(scale, noise, MIN_SCORE, WIDTHS)
        if abs(e.size) >= np.log(MIN_NOISE_RATIO)
    ]


def _place(changes: Array, near: int, size: int) -> int:
    """The point within three blocks that best divides `changes` into two stretches with one scale each."""
    low, high = max(0, near - 6 * size), min(changes.size, near + 6 * size)
    x = np.maximum(np.minimum(changes[low:high], 4 * median(changes[low:high])), TINY)
    total = np.cumsum(x)
    at = np.arange(3 * size, x.size - 3 * size)
    if not at.size:
        return near
    left, right = total[at - 1] / at, (total[-1] - total[at - 1]) / (x.size - at)
    return low + int(at[np.argmin(at * np.log(left) + (x.size - at) * np.log(right))])
