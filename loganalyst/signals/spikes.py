"""Single excursions in the worse direction that come back, from one point to about a fiftieth of the curve long."""

import numpy as np

from loganalyst.model import ChangePoint
from loganalyst.signals.prepared import Prepared, local_noise
from loganalyst.signals.rhythm import rhythm
from loganalyst.signals.robust import Array, blocks, running_median

REACH = 8.0  # noise units an excursion has at least
OPPOSITE = 1.6  # and so many times the largest excursion the other way
CHANCE = 0.1  # excursions by chance that a curve may have
FOLD = 8  # each coarser look takes medians of this many points of the finer one
WARM = 0.05  # share of the curve whose slow excursions are warm-up
FEWEST = 100  # points a coarser look needs
TRAIN = 6  # excursions at a steady interval that are no chance
MOST = 1000  # spikes reported at most, the largest first

Span = tuple[int, int, float, float]  # first point, last point, height in noise units, threshold


def spikes(p: Prepared) -> list[ChangePoint]:
    """Excursions above the local median, looked for at full resolution and in ever coarser medians."""
    n = p.y.size
    if n < 7:
        return []
    spans = _train(p) or _spans(p.y, p.trend, p.noise, 1)
    size = FOLD
    while n // size >= FEWEST:
        coarse = blocks(p.y, size)
        base = running_median(coarse, 2 * FOLD)
        for start, end, z, limit in _spans(coarse, base, local_noise(coarse, base), size):
            if start > WARM * n and not any(s <= end and start <= e for s, e, _, _ in spans):
                spans.append((_onset(p, start, size), end, z, limit))
        size *= FOLD
    largest = sorted(spans, key=lambda s: -s[2])[:MOST]
    return [ChangePoint(s, min(e, n - 1), "spike", z, 1 - 0.5 * limit / z) for s, e, z, limit in sorted(largest)]


def _train(p: Prepared) -> list[Span]:
    """Excursions that come at a steady interval: it tells them from a heavy tail on this side, which they look like."""
    spans = _spans(p.y, p.trend, p.noise, 1, own=False)
    steady = len(spans) >= TRAIN and rhythm(np.array([s[0] for s in spans], np.intp)) is not None
    return spans if steady else []


def _spans(x: Array, base: Array, noise: Array, size: int, *, own: bool = True) -> list[Span]:
    """Runs of points of `x` (each of `size` points of the curve) far above `base`; gaps of two points are bridged."""
    z = (x - base) / noise
    limit = _limit(z, own=own)
    high = np.flatnonzero(z > limit)
    if not high.size:
        return []
    groups = np.split(high, np.flatnonzero(np.diff(high) > 3) + 1)
    return [(int(g[0]) * size, int(g[-1] + 1) * size - 1, float(z[g].max()), limit) for g in groups]


def _limit(z: Array, *, own: bool) -> float:
    """How far chance alone might reach: never below REACH; from the other side's tail, read as a power law (Hill), with
    its largest excursion; and from the bulk of this side (if `own`), read as an exponential tail.
    """
    n = z.size
    many, few = max(10, n // 100), max(3, n // 1000)
    if n < 4 * many:
        return max(REACH, OPPOSITE * float(-z.min()))
    tail = -np.partition(z, (few, many))[[few, many]]
    power = np.log(max(tail[0], 1e-9) / max(tail[1], 1e-9)) / np.log(many / few) if tail[1] > 0 else 0.0
    other = float(tail[0] * (few / CHANCE) ** power)
    near, far = np.quantile(z, (0.9, 0.97))
    same = float(far + (far - near) / np.log(0.1 / 0.03) * np.log(0.03 * n / CHANCE))
    return max(REACH, other, OPPOSITE * same if own else 0.0, float(-z.min()))


def _onset(p: Prepared, start: int, size: int) -> int:
    """First point of a coarse excursion: where the curve has risen half of the way, a block more or less."""
    near = slice(max(0, start - size), start + 2 * size)
    rise = p.y[near] - p.trend[near][0]
    return int(near.start + np.argmax(rise > 0.5 * np.max(rise)))
