"""Level shifts: the curve jumps and goes on from there."""

import numpy as np

from loganalyst.model import ChangePoint, Kind
from loganalyst.signals.bends import edges, sharpest
from loganalyst.signals.preparedcurve import Prepared
from loganalyst.signals.robuststatistics import running_median, spread

REACH = 6.0  # standard errors
SIZE = 2.0  # and so many times the noise of single points
WANDER = 3.0  # and of the curve's slow wandering,
SLOW = 0.06  # which is what a median over this share of the curve on each side leaves
SHARP = 0.5  # share of the shift that happens at once at full resolution
SURE = 200.0  # points of one noise unit each that leave an error of a tenth of the shift in the full-resolution look
CLOSE = 8  # points left and right in it at most, or two blocks


def levels(p: Prepared) -> list[ChangePoint]:
    """`level_up` (towards worse) and `level_down`; `effect` is the shift in units of the local noise."""
    found: list[ChangePoint] = []
    steps = edges(p.level, p.level_noise, REACH)
    if not steps:
        return found
    wander = spread(p.level - running_median(p.level, max(5, round(SLOW * p.level.size))))
    for e in steps:
        block = p.index(e.index)
        effect = abs(e.size) / float(p.noise[block])
        if effect < SIZE or abs(e.size) < WANDER * wander:
            continue
        reach, width = 2 * p.size + 2, int(np.clip(np.ceil(SURE / effect**2), 1, max(CLOSE, 2 * p.size)))
        at, size = sharpest(p.y, block - reach, block + reach, width, e.size)
        if size / e.size >= SHARP:
            kind: Kind = "level_up" if e.size > 0 else "level_down"
            found.append(ChangePoint(at, None, kind, effect, 1 - 0.5 * REACH / e.z))
    return found
