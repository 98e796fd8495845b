"""The noise itself changes size."""

import numpy as np

from loganalyst.model import ChangePoint
from loganalyst.signals.bends import edges
from loganalyst.signals.preparedcurve import Prepared
from loganalyst.signals.robuststatistics import TINY, Array, median, medians, running_median, spread

REACH = 4.5  # standard errors
RATIO = 1.6  # smallest change of the noise that counts
BLOCKS = 250
WIDTHS = (0.04, 0.08, 0.16)  # of the curve, on each side


def variance(p: Prepared) -> list[ChangePoint]:
    """Steps of log|residual|; `effect` is the ratio new/old noise (below 1: it fell)."""
    n = p.y.size
    size = max(10, -(-n // BLOCKS))
    if n < 20 * size:
        return []
    bare = np.abs(np.diff(p.y, n=2, append=p.y[-2:]))
    rest = bare[: n // size * size].reshape(-1, size)
    floor = 1e-3 * median(p.noise)
    scale = np.log(np.maximum(np.mean(np.minimum(rest, 4 * medians(rest)[:, None]), axis=1), floor))
    noise = np.full(scale.size, max(spread(scale - running_median(scale, 5)), 0.05))
    return [
        ChangePoint(_place(bare, e.index * size, size), None, "variance", float(np.exp(e.size)), 1 - 0.5 * REACH / e.z)
        for e in edges(scale, noise, REACH, WIDTHS)
        if abs(e.size) >= np.log(RATIO)
    ]


def _place(bare: Array, near: int, size: int) -> int:
    """The point within three blocks that parts `bare` into two stretches of one scale each best."""
    low, high = max(0, near - 6 * size), min(bare.size, near + 6 * size)
    x = np.maximum(np.minimum(bare[low:high], 4 * median(bare[low:high])), TINY)
    total = np.cumsum(x)
    at = np.arange(3 * size, x.size - 3 * size)
    if not at.size:
        return near
    left, right = total[at - 1] / at, (total[-1] - total[at - 1]) / (x.size - at)
    return low + int(at[np.argmin(at * np.log(left) + (x.size - at) * np.log(right))])
