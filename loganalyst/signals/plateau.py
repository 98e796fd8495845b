"""Flat within noise to the end, after progress."""

import numpy as np

from loganalyst.model import ChangePoint
from loganalyst.signals.edges import hinge
from loganalyst.signals.flatness import flat_from
from loganalyst.signals.prepared import Prepared
from loganalyst.signals.robust import blocks

PROGRESS = 8.0  # standard errors the curve moved before, and
MOVED = 1.0  # so many times the noise of single points
BLOCKS = 200


def plateau(p: Prepared) -> list[ChangePoint]:
    """At most one; `index` is the first flat point, `effect` the progress before it in units of the noise."""
    fold = max(1, p.level.size // BLOCKS)
    x = blocks(p.level, fold)
    flat = flat_from(x)
    if flat is None or flat[0] < 3:
        return []
    first, noise = flat
    progress = float(np.median(x[: max(3, first // 10)]) - np.median(x[first:]))
    single = float(np.median(p.noise))
    if progress < max(PROGRESS * noise, MOVED * single):
        return []
    low, reach = max(0, first - x.size // 8), x.size // 8
    bend = low + hinge(x[low : first + reach])[0]
    z = progress / noise
    return [ChangePoint(p.index(max(bend, first) * fold), None, "plateau", progress / single, 1 - 0.5 * PROGRESS / z)]
