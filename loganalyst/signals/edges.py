"""Steps in a noisy series that may bend: two straight fits, left and right of every point, compared at several widths.

A one-sided local linear fit tells the level just before and just after a point; their difference is blind to slope and
(by symmetry) to curvature, so a smooth learning curve has no steps. After Loader (1996), "Change point estimation using
nonparametric regression", Annals of Statistics 24; the errors are taken from the statistic's own spread over the
series, which holds whatever the autocorrelation is.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from loganalyst.signals.robust import Array, running_median, spread

WIDTHS = (0.01, 0.025, 0.06, 0.12)  # of the series, on each side
NARROWEST = 5  # points on each side
SEEN = 2.0  # standard errors at the narrowest width
AGREE = (0.5, 2.0)  # a true step has nearly the same size at every width


@dataclass(frozen=True)
class Edge:
    """A step of `size` before point `index`, `z` times its standard error."""

    index: int
    size: float
    z: float


@cache
def _kernels(width: int) -> tuple[Array, Array]:
    """Weights of (right level − left level) and of (right slope − left slope) over 2·width points."""
    u = np.arange(width) + 0.5
    centred = u - u.mean()
    power = float(np.dot(centred, centred))
    level = 1 / width - u.mean() * centred / power
    slope = centred / power
    return np.concatenate((-level[::-1], level)), np.concatenate((-slope, slope))


def contrast(x: Array, width: int, *, slopes: bool = False) -> Array:
    """Right less left at the boundary before each point; NaN within `width` of the ends."""
    out = np.full(x.size, np.nan)
    if x.size >= 2 * width:
        out[width : x.size - width + 1] = np.correlate(x, _kernels(width)[int(slopes)], mode="valid")
    return out


def edges(x: Array, noise: Array, z: float = 6.0, widths: tuple[float, ...] = WIDTHS) -> list[Edge]:
    """The steps of `x` at `z` standard errors or more, in order; `noise` is the local sd of `x`."""
    sizes = sorted({max(NARROWEST, round(x.size * w)) for w in widths})
    sizes = [w for w in sizes if 2 * w <= x.size]
    if not sizes:
        return []
    jumps = np.array([contrast(x, w) for w in sizes])
    scores = np.array([_scores(j / noise, w) for j, w in zip(jumps, sizes, strict=True)])
    best = np.max(np.nan_to_num(np.abs(scores)), axis=0)
    found: list[Edge] = []
    for index in np.argsort(-best):
        if best[index] < z:
            break
        if all(abs(index - e.index) > max(2 * sizes[0], x.size // 50) for e in found) and _agrees(
            jumps, scores, int(index)
        ):
            k = int(np.argmax(np.nan_to_num(np.abs(scores[:, index]))))
            found.append(Edge(int(index), float(jumps[k, index]), float(best[index])))
        if len(found) >= 50:
            break
    return sorted(found, key=lambda e: e.index)


def _scores(jump: Array, width: int) -> Array:
    """Jumps in standard errors: the larger of the series' own spread of jumps and white noise's."""
    known = jump[np.isfinite(jump)]
    white = float(np.sqrt(np.sum(_kernels(width)[0] ** 2)))
    return jump / max(spread(known), white)


def _agrees(jumps: Array, scores: Array, index: int) -> bool:
    """The step is there, of like size, at the other widths (a point or two beside it allowed)."""
    near = slice(max(0, index - 2), index + 3)
    sign = np.sign(scores[int(np.argmax(np.nan_to_num(np.abs(scores[:, index])))), index])
    local = np.nanmax(np.where(np.isfinite(jumps[:, near]), sign * jumps[:, near], -np.inf), axis=1)
    score = np.nanmax(np.where(np.isfinite(scores[:, near]), sign * scores[:, near], -np.inf), axis=1)
    local, score = local[np.isfinite(local)], score[np.isfinite(score)]
    typical = float(np.median(local))
    return bool(typical > 0 and np.all(local > AGREE[0] * typical) and np.all(local < AGREE[1] * typical) and score[0] >= SEEN)


def sharpest(x: Array, start: int, stop: int, width: int, sign: float) -> tuple[int, float]:
    """Where, from `start` to before `stop`, the means of `width` points left and right differ most in the direction of
    `sign`; and that difference.
    """
    start, stop = max(width, start), min(stop, x.size - width)
    if start >= stop:
        return min(start, x.size - 1), 0.0
    total = np.concatenate(([0.0], np.cumsum(x[start - width : stop + width])))
    steps = (total[2 * width : -1] - 2 * total[width : -width - 1] + total[: -2 * width - 1]) / width
    best = int(np.argmax(sign * steps))
    return start + best, float(steps[best])


def hinge(x: Array) -> tuple[int, float]:
    """The point at which one bend added to a straight line explains `x` best, and the change of slope there."""
    n = x.size
    t = np.linspace(-1.0, 1.0, n)
    base = np.stack((np.full(n, n**-0.5), t / np.sqrt(np.dot(t, t))))
    bends = np.maximum(t[None, :] - t[1:-1, None], 0.0)
    bends -= (bends @ base.T) @ base
    power = np.sum(bends**2, axis=1)
    power[power < 1e-9] = np.inf
    fit = bends @ x
    best = int(np.argmax(fit**2 / power))
    return best + 1, float(fit[best] / power[best] * 2 / (n - 1))
