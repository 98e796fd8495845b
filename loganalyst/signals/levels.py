"""Level shifts: the curve jumps and continues from there."""

import numpy as np

from loganalyst.model import ChangePoint, Kind
from loganalyst.signals.bends import edges, sharpest
from loganalyst.signals.preparedcurve import Prepared
from loganalyst.signals.robuststatistics import running_median, spread

MIN_SCORE = 6.0  # standard errors
MIN_SHIFT = 2.0  # in units of the noise of single points
MIN_SHIFT_IN_STEPS = 1.5  # in units of the quantum: a slow drift of rounded values jumps by one
MIN_SHIFT_TO_WANDER = 3.0  # in units of the curve's slow wandering: its residuals around a running median
WANDER_HALF_WIDTH = 0.06  # half the width of this median, as a share of the curve
MIN_SUDDEN_SHARE = 0.5  # share of the shift that must happen at once at full resolution
PRECISION = 200.0  # points for a mean with an error of a tenth of a shift by one noise unit (2 / 0.1²)
MAX_WIDTH = 8  # points on each side in the full-resolution look, or two blocks


def levels(p: Prepared) -> list[ChangePoint]:
    """`level_up` (towards worse) and `level_down`; `effect` is the shift in units of the local noise."""
    found: list[ChangePoint] = []
    steps = edges(p.level, p.level_noise, MIN_SCORE)
    if not steps:
        return found
    wander = spread(p.level - running_median(p.level, max(5, round(WANDER_HALF_WIDTH * p.level.size))))
    for e in steps:
        block = p.index(e.index)
        effect = abs(e.size) / float(p.noise[block])
        least = max(MIN_SHIFT_TO_WANDER * wander, MIN_SHIFT_IN_STEPS * float(p.step[block]))
        if effect < MIN_SHIFT or abs(e.size) < least:
            continue
        reach, width = 2 * p.size + 2, int(np.clip(np.ceil(PRECISION / effect**2), 1, max(MAX_WIDTH, 2 * p.size)))
        at, size = sharpest(p.y, block - reach, block + reach, width, e.size)
        if size / e.size >= MIN_SUDDEN_SHARE:
            kind: Kind = "level_up" if e.size > 0 else "level_down"
            found.append(ChangePoint(at, None, kind, effect, 1 - 0.5 * MIN_SCORE / e.z))
    return found
