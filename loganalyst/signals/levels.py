"""Level shifts: the curve jumps and goes on from there."""

import numpy as np

from loganalyst.model import ChangePoint, Kind
from loganalyst.signals.edges import edges, sharpest
from loganalyst.signals.prepared import Prepared

REACH = 6.0  # standard errors
SIZE = 2.0  # and so many times the noise of single points
SHARP = 0.5  # share of the shift that happens at once at full resolution
CLOSE = 8  # points left and right in the full-resolution look, at most


def levels(p: Prepared) -> list[ChangePoint]:
    """`level_up` (towards worse) and `level_down`; `effect` is the shift in units of the local noise."""
    found = []
    for e in edges(p.level, p.level_noise, REACH):
        block = p.index(e.index)
        effect = abs(e.size) / float(p.noise[block])
        if effect < SIZE:
            continue
        reach, width = 2 * p.size + 2, int(np.clip(np.ceil(32 / effect**2), 1, CLOSE))  # se of the look: size / 4
        at, size = sharpest(p.y, block - reach, block + reach, width, e.size)
        if size / e.size >= SHARP:
            kind: Kind = "level_up" if e.size > 0 else "level_down"
            found.append(ChangePoint(at, None, kind, effect, 1 - 0.5 * REACH / e.z))
    return found
