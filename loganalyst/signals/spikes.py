"""Single excursions in the worse direction that come back, from one point to about a fiftieth of the curve long."""

import numpy as np

from loganalyst.model import ChangePoint
from loganalyst.signals.preparedcurve import Prepared, local_noise
from loganalyst.signals.quantum import ROUNDING_SD
from loganalyst.signals.robuststatistics import Array, blocks, running_median
from loganalyst.signals.steadyinterval import rhythm

MIN_HEIGHT = 8.0  # noise units
MIN_OPPOSITE_RATIO = 1.6  # height relative to the largest excursion in the other direction
MAX_CHANCE_SPIKES = 0.1  # expected excursions by chance in a curve
FOLD = 8  # each coarser look takes medians of this many points of the finer one
WARM_UP = 0.05  # share of the curve in which slow excursions are warm-up
MIN_COARSE_POINTS = 100  # points that a coarser look needs
MIN_TRAIN = 6  # excursions at a steady interval that are no chance
MAX_SPIKES_REPORTED = 1000  # the largest first

Span = tuple[int, int, float, float]  # first point, last point, height in noise units, threshold


def spikes(p: Prepared) -> list[ChangePoint]:
    """Excursions above the local median, at full resolution and in ever coarser medians."""
    n = p.y.size
    if n < 7:
        return []
    spans = _finest((p.y - p.trend) / p.noise)
    size, coarse, step = FOLD, p.y, p.step
    while n // size >= MIN_COARSE_POINTS:
        coarse, step = blocks(coarse, FOLD), blocks(step, FOLD)
        base = running_median(coarse, 2 * FOLD)
        z = (coarse - base) / np.maximum(local_noise(coarse, base), ROUNDING_SD * step)
        for start, end, height, limit in _spans(z, _limits(z)[0], size):
            if start > WARM_UP * n and not any(s <= end and start <= e for s, e, _, _ in spans):
                spans.append((_onset(p, start, size), end, height, limit))
        size *= FOLD
    largest = sorted(spans, key=lambda s: -s[2])[:MAX_SPIKES_REPORTED]
    return [ChangePoint(s, min(e, n - 1), "spike", z, 1 - 0.5 * limit / z) for s, e, z, limit in sorted(largest)]


def _finest(z: Array) -> list[Span]:
    """Excursions of single points. A steady interval distinguishes them from a heavy tail on their side."""
    limit, other = _limits(z)
    train = _spans(z, other, 1)
    if len(train) >= MIN_TRAIN and rhythm(np.array([s[0] for s in train], np.intp)) is not None:
        return train
    return _spans(z, limit, 1)


def _spans(z: Array, limit: float, size: int) -> list[Span]:
    """Runs of heights `z` (each of `size` points of the curve) above `limit`; gaps of two are bridged."""
    high = np.flatnonzero(z > limit)
    if not high.size:
        return []
    groups = np.split(high, np.flatnonzero(np.diff(high) > 3) + 1)
    return [(int(g[0]) * size, int(g[-1] + 1) * size - 1, float(z[g].max()), limit) for g in groups]


def _limits(z: Array) -> tuple[float, float]:
    """The limit that chance may reach, and the same without the tail of this side; never below MIN_HEIGHT.

    The second comes from the other side: its tail as a power law (Hill 1975) and its largest excursion. The first also
    comes from the bulk of this side, as an exponential.
    """
    n, ordered = z.size, np.sort(z)
    many, few, farthest = max(10, n // 100), max(3, n // 1000), -float(ordered[0])
    if n < 4 * many:
        return max(MIN_HEIGHT, MIN_OPPOSITE_RATIO * farthest), max(MIN_HEIGHT, MIN_OPPOSITE_RATIO * farthest)
    tail = -ordered[[few, many]]
    power = np.log(max(tail[0], 1e-9) / max(tail[1], 1e-9)) / np.log(many / few) if tail[1] > 0 else 0.0
    other = max(MIN_HEIGHT, farthest, float(tail[0] * (few / MAX_CHANCE_SPIKES) ** power))
    near, far = ordered[[int(0.9 * n), int(0.97 * n)]]
    same = float(far + (far - near) / np.log(0.1 / 0.03) * np.log(0.03 * n / MAX_CHANCE_SPIKES))
    return max(other, MIN_OPPOSITE_RATIO * same), other


def _onset(p: Prepared, start: int, size: int) -> int:
    """First point of a coarse excursion: where the curve has risen half of the way, with an error of about a block."""
    near = slice(max(0, start - size), start + 2 * size)
    rise = p.y[near] - p.trend[near][0]
    return int(near.start + np.argmax(rise > 0.5 * np.max(rise)))
