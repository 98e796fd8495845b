"""The trend turns for the worse: a curve that fell or was flat begins to rise, without a jump."""

import numpy as np

from loganalyst.model import ChangePoint
from loganalyst.signals.bends import contrast, hinge, trend
from loganalyst.signals.preparedcurve import Prepared
from loganalyst.signals.robuststatistics import Array, long_run, spread

MIN_SCORE = 4.5  # standard errors of the change of slope at the wider width, and
NARROW_SHARE = 0.5  # this share of them at the narrower width
MIN_CLIMB = 4.0  # standard errors of the slope after
MIN_RISE = 3.0  # rise within the wider window, in units of the noise of single points
MIN_RISE_IN_STEPS = 1.5  # the same in units of the quantum
MAX_SLOPE_BEFORE = 0.3  # as a share of the slope after
USUAL_BEND = 0.5  # robust sd of all bends up to which a bend is usual
WIDTHS = (0.06, 0.12)  # shares of the curve, on each side
MIN_WIDTH = 6  # blocks on each side


def slope(p: Prepared) -> list[ChangePoint]:
    """Bends for the worse; `effect` is the rise within 12 % of the curve in units of the noise."""
    m = p.level.size
    narrow, wide = (max(MIN_WIDTH, round(w * m)) for w in WIDTHS)
    if m < 4 * wide:
        return []
    drift = max(p.stretch, long_run(p.level / p.level_noise))
    score = np.fmin(_scores(p, narrow, drift) / NARROW_SHARE, _scores(p, wide, drift))
    found: list[ChangePoint] = []
    while (block := int(np.argmax(score))) and score[block] >= MIN_SCORE:  # one round for each bend
        before, after = trend(p.level[block - wide : block]), trend(p.level[block : block + wide])
        effect = after * wide / float(p.noise[p.index(block)])
        error = float(p.level_noise[block]) * drift * float(np.sqrt(12.0 / wide**3))
        enough = effect >= MIN_RISE and after * wide >= MIN_RISE_IN_STEPS * float(p.level_step[block])
        if enough and before <= MAX_SLOPE_BEFORE * after and after >= MIN_CLIMB * error:
            low = block - wide
            at = p.index(low + hinge(p.level[low : block + wide]))
            found.append(ChangePoint(at, None, "slope", effect, 1 - 0.5 * MIN_SCORE / float(score[block])))
        score[max(0, block - wide) : block + wide] = -np.inf
    return sorted(found, key=lambda c: c.index)


def _scores(p: Prepared, width: int, drift: float) -> Array:
    """Change of slope at every block in standard errors (of autocorrelated noise, or of the curve's usual bends); -inf
    where it is not known.
    """
    bend = contrast(p.level, width, slopes=True) / p.level_noise
    error = max(float(np.sqrt(24.0 / width**3)) * drift, USUAL_BEND * spread(bend[np.isfinite(bend)]))
    return np.nan_to_num(bend / error, nan=-np.inf)
