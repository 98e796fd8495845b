"""Steps in a noisy series that may bend: straight fits on both sides of every point, compared at several widths.

A one-sided local linear fit estimates the level just before and just after a point. The difference of the two does not
depend on slope or, by symmetry, on curvature, so a smooth learning curve has no steps. After Loader (1996), "Change
point estimation using nonparametric regression", Annals of Statistics 24. The errors come from the statistic's own
spread over the series, which is valid for any autocorrelation.
"""

from functools import cache

import msgspec
import numpy as np

from loganalyst.signals.robuststatistics import TINY, Array, lag1, median, spread

WIDTHS = (0.01, 0.025, 0.06, 0.12)  # shares of the series, on each side
MIN_WIDTH = 5  # points on each side
MAX_FLAT_TREND = 0.25  # mean trend across two flat sides, as a share of the step
MIN_WIDTHS_REACHING = 2  # widths that must reach a point to judge it
MAX_CANDIDATES = 100  # the strongest first
MIN_NARROW_SCORE = 2.0  # standard errors at the narrowest width
SIZE_AGREEMENT = (0.5, 2.0)  # a true step has nearly the same size at every width, relative to the typical one


class Edge(msgspec.Struct, frozen=True):
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
    """Right minus left level (or slope) at the boundary before each point; NaN within `width` of the ends."""
    out = np.full(x.size, np.nan)
    if x.size >= 2 * width:
        out[width : x.size - width + 1] = np.correlate(x, _kernels(width)[int(slopes)], mode="valid")
    return out


def edges(x: Array, noise: Array, z: float = 6.0, widths: tuple[float, ...] = WIDTHS) -> list[Edge]:
    """The steps of `x` of at least `z` standard errors, in order; `noise` is the local sd of `x`.

    A step must show in straight fits at two widths or more, or as a difference of means between two flat stretches.
    """
    sizes = sorted({w for share in widths if 2 * (w := max(MIN_WIDTH, round(x.size * share))) <= x.size})
    if not sizes:
        return []
    bent = _candidates(np.array([contrast(x, w) for w in sizes]), noise, [_kernels(w)[0] for w in sizes], z)
    found: list[Edge] = []
    for e in sorted(bent + _between_flats(x, x.size // 4, z), key=lambda e: -e.z):
        if all(abs(e.index - other.index) > max(2 * sizes[0], x.size // 50) for other in found):
            found.append(e)
    return sorted(found, key=lambda e: e.index)


def _candidates(jumps: Array, noise: Array, kernels: list[Array], z: float) -> list[Edge]:
    """Local maxima of the score with similar sizes at all widths (rows of `jumps`)."""
    scores = np.array([_scores(j / noise, k) for j, k in zip(jumps, kernels, strict=True)])
    known = np.count_nonzero(np.isfinite(scores), axis=0)
    best = np.where(known >= min(MIN_WIDTHS_REACHING, len(kernels)), np.fmax.reduce(np.abs(scores), axis=0), 0.0)
    peaks = np.flatnonzero((best >= z) & (best >= np.append(best[1:], 0)) & (best >= np.append(0, best[:-1])))
    found = []
    for i in peaks[np.argsort(-best[peaks])][:MAX_CANDIDATES].tolist():
        if _agrees(jumps, scores, i):
            k = int(np.argmax(np.nan_to_num(np.abs(scores[:, i]))))
            found.append(Edge(i, float(jumps[k, i]), float(best[i])))
    return found


def _between_flats(x: Array, width: int, z: float) -> list[Edge]:
    """Steps between two stretches of up to `width` points without a trend; there, means are twice as sensitive."""
    total = np.concatenate(([0.0], np.cumsum(x)))
    at = np.arange(MIN_WIDTH * 2, x.size - MIN_WIDTH * 2)
    left, right = np.maximum(at - width, 0), np.minimum(at + width, x.size)
    steps = (total[right] - total[at]) / (right - at) - (total[at] - total[left]) / (at - left)
    strength = np.abs(steps) / np.sqrt(1 / (right - at) + 1 / (at - left))
    found = []
    while strength.size and strength[k := int(np.argmax(strength))] > 0:  # one round for each step
        sides = x[left[k] : at[k]], x[at[k] : right[k]]
        residuals = np.concatenate([side - median(side) for side in sides])
        rho = lag1(residuals)
        inverse = sum(1 / side.size for side in sides)
        error = max(spread(residuals), TINY) * float(np.sqrt((1 + rho) / (1 - rho) * inverse))
        if abs(steps[k]) < z * error:
            break
        bend = sum(trend(side) * side.size for side in sides) / 2  # what the trends of the sides contribute
        if abs(bend) <= MAX_FLAT_TREND * abs(steps[k]):
            found.append(Edge(int(at[k]), float(steps[k]), abs(float(steps[k])) / error))
        strength[max(0, k - width // 2) : k + width // 2 + 1] = 0
    return found


def trend(x: Array) -> float:
    """Slope per point of the straight line through `x`."""
    t = np.arange(x.size) - (x.size - 1) / 2
    return float(np.dot(t, x) / np.dot(t, t)) if x.size > 1 else 0.0


def _scores(jump: Array, kernel: Array) -> Array:
    """Jumps in standard errors: the larger of the spread of jumps in the series and that of white noise."""
    known = jump[np.isfinite(jump)]
    white = float(np.sqrt(np.sum(kernel**2)))
    return jump / max(spread(known), white)


def _agrees(jumps: Array, scores: Array, index: int) -> bool:
    """Whether the step has a similar size at the other widths, allowing two points of shift."""
    near = slice(max(0, index - 2), index + 3)
    sign = np.sign(scores[int(np.argmax(np.nan_to_num(np.abs(scores[:, index])))), index])
    local, score = (np.where(np.isfinite(x), sign * x, -np.inf).max(axis=1) for x in (jumps[:, near], scores[:, near]))
    local, score = local[np.isfinite(local)], score[np.isfinite(score)]
    typical = median(local)
    return bool(
        typical > 0
        and np.all(local > SIZE_AGREEMENT[0] * typical)
        and np.all(local < SIZE_AGREEMENT[1] * typical)
        and score[0] >= MIN_NARROW_SCORE
    )


def sharpest(x: Array, start: int, stop: int, width: int, sign: float) -> tuple[int, float]:
    """The point from `start` to before `stop` where the means of `width` points on both sides differ most in the
    direction of `sign`, and that difference.

    If the usual slope around explains part of the difference, this part is subtracted.
    """
    start, stop = max(width, start), min(stop, x.size - width)
    if start >= stop:
        return min(start, x.size - 1), 0.0
    total = np.concatenate(([0.0], np.cumsum(x[start - width : stop + width])))
    steps = (total[2 * width : -1] - 2 * total[width : -width - 1] + total[: -2 * width - 1]) / width
    slope = width * median(np.diff(x[max(0, start - 10) : stop + 10]))
    best = int(np.argmax(sign * steps))
    return start + best, float(steps[best]) - (slope if slope * sign > 0 else 0.0)


def hinge(x: Array) -> int:
    """The point where one upward bend, added to a straight line, explains `x` best."""
    t = np.linspace(-1.0, 1.0, x.size)
    return _best(x, np.maximum(t[None, :] - t[1:-1, None], 0.0)) + 1


def jump(x: Array) -> int:
    """The first point behind one upward jump that, added to a straight line, explains `x` best."""
    at = np.arange(x.size)
    return _best(x, (at[None, :] >= at[1:-1, None]).astype(np.float64)) + 1


def _best(x: Array, shapes: Array) -> int:
    """The row of `shapes` that, with a weight above 0 and beside a straight line, explains `x` best."""
    t = np.linspace(-1.0, 1.0, x.size)
    base = np.stack((np.full(x.size, x.size**-0.5), t / np.sqrt(np.dot(t, t))))
    shapes = shapes - (shapes @ base.T) @ base
    power = np.sum(shapes**2, axis=1)
    power[power < 1e-9] = np.inf
    fit = shapes @ x
    return int(np.argmax(np.maximum(fit, 0) ** 2 / power))
