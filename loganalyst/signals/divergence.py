"""A sustained rise above the best level so far that lasts to the end."""

import numpy as np

from loganalyst.model import ChangePoint
from loganalyst.signals.prepared import Prepared
from loganalyst.signals.robust import running_median

REACH = 8.0  # noise units of a block median
SHARE = 0.25  # of the progress made that must be lost, or
DOUBLE = 0.69  # a rise by this much in log, i.e. to twice the best


def divergence(p: Prepared) -> list[ChangePoint]:
    """At most one; `index` is where the curve left its trend for good."""
    level = running_median(p.level, 1)
    if level.size < 7:
        return []
    best = int(np.argmin(level))
    end = float(np.median(p.level[-max(3, level.size // 50) :]))
    rise = end - float(level[best])
    progress = float(np.median(level[: max(3, level.size // 50)])) - float(level[best])
    unit = max(p.level_noise * p.stretch, 1e-12)
    if rise < REACH * unit or (rise < SHARE * progress and not (p.logged and rise > DOUBLE)):
        return []
    calm = np.flatnonzero(level < level[best] + max(3 * unit, 0.1 * rise))
    block = int(calm[-1]) + 1
    if level.size - block < 3:
        return []
    z = rise / unit
    return [ChangePoint(min(block * p.size, p.y.size - 1), None, "divergence", float(z), float(1 - 0.5 * REACH / z))]
