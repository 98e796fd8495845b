"""Level shifts: the curve jumps and goes on from there."""

from loganalyst.model import ChangePoint
from loganalyst.signals.edges import edges, sharpest
from loganalyst.signals.prepared import Prepared

REACH = 6.0  # standard errors
SIZE = 2.0  # and so many times the noise of single points
SHARP = 0.5  # share of the shift that happens at once at full resolution
CLOSE = 8  # points left and right in the full-resolution look


def levels(p: Prepared) -> list[ChangePoint]:
    """`level_up` (towards worse) and `level_down`; `effect` is the shift in units of the local noise."""
    found = []
    for e in edges(p.level, p.level_noise, REACH):
        reach = 2 * p.size + 2
        at, size = sharpest(p.y, p.index(e.index) - reach, p.index(e.index) + reach, max(CLOSE, p.size), e.size)
        effect = abs(e.size) / float(p.noise[at])
        if effect >= SIZE and size / e.size >= SHARP:
            kind = "level_up" if e.size > 0 else "level_down"
            found.append(ChangePoint(at, None, kind, effect, 1 - 0.5 * REACH / e.z))
    return found
