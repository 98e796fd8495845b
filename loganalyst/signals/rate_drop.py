"""A gain right after a sudden drop of the learning rate: harmless, unlike a level shift without a reason."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from loganalyst.model import ChangePoint
from loganalyst.signals.bends import contrast
from loganalyst.signals.preparedcurve import Prepared
from loganalyst.signals.quantum import quantum
from loganalyst.signals.rateschedule import MIN_DROP_IN_STEPS
from loganalyst.signals.robuststatistics import TINY, Array, spread

MAX_RATE_LEFT = 0.7  # share of the previous rate
MIN_SCORE = 3.0  # standard errors; few, because the place is known beforehand
WIDTHS = (0.01, 0.03)  # shares of the curve, on each side
MIN_WIDTH = 6  # blocks on each side
MAX_DELAY = 0.02  # share of the curve after the drop in which its gain happens


def drops(rate: Array) -> NDArray[np.intp]:
    """The points where the learning rate falls by 30 % or more from one point to the next."""
    known = np.flatnonzero(np.isfinite(rate))
    at = rate[known]
    far = at[1:] <= at[:-1] - MIN_DROP_IN_STEPS * quantum(at)
    return known[1:][(at[1:] <= MAX_RATE_LEFT * at[:-1]) & (at[:-1] > 0) & far]


def rate_drop(p: Prepared, lowered: Sequence[int]) -> list[ChangePoint]:
    """`lr_drop` at each of the points `lowered` at which the curve falls; `effect` is the fall in noise units."""
    best: dict[int, tuple[float, float]] = {}
    for width in {max(MIN_WIDTH, round(share * p.level.size)) for share in WIDTHS}:
        falls = -contrast(p.level, width)
        known = falls[np.isfinite(falls)]
        if not known.size:
            continue
        error = max(spread(known), TINY)
        for at in lowered:
            fall = float(np.nanmax(np.append(falls[at // p.size : at // p.size + 3], 0.0)))
            best[at] = max(best.get(at, (0.0, 0.0)), (fall / error, fall))
    return [
        ChangePoint(at, None, "lr_drop", fall / float(p.noise[at]), 1 - 0.5 * MIN_SCORE / z)
        for at, (z, fall) in sorted(best.items())
        if z >= MIN_SCORE
    ]


def explained(c: ChangePoint, drops: Sequence[ChangePoint], n: int) -> bool:
    """Whether a change is the gain after one of the reported drops."""
    return c.kind in ("level_down", "slope", "plateau") and any(
        0 <= c.index - d.index + 1 <= MAX_DELAY * n for d in drops
    )
