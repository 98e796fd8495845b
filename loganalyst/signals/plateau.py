"""Flat within noise to the end, after progress."""

import numpy as np

from loganalyst.model import ChangePoint
from loganalyst.signals.edges import hinge
from loganalyst.signals.prepared import Prepared
from loganalyst.signals.robust import TINY, Array, as_floats, blocks, lag1, spread

SHORTEST = 0.2  # share of the curve that must be flat
PROGRESS = 8.0  # standard errors the curve moved before, and
MOVED = 1.0  # so many times the noise of single points
STILL = 3.0  # standard errors of the tail's trend that still count as none
BLOCKS = 200


def plateau(p: Prepared) -> list[ChangePoint]:
    """At most one; `index` is the first flat point, `effect` the progress before it in units of the noise."""
    fold = max(1, p.level.size // BLOCKS)
    x = blocks(p.level, fold)
    m = x.size
    if m < 20:
        return []
    noise = _noise(x[-max(10, int(m * SHORTEST)) :])
    starts = np.arange(0, int(m * (1 - SHORTEST)) + 1)
    moving = np.flatnonzero(np.abs(_trends(x)[starts]) > STILL * noise)
    first = int(moving[-1]) + 1 if moving.size else 0
    if first > starts[-1] or first < 3:
        return []
    tail = float(np.median(x[first:]))
    progress = float(np.median(x[: max(3, first // 10)])) - tail
    single = float(np.median(p.noise))
    if progress < max(PROGRESS * noise, MOVED * single):
        return []
    low = max(0, first - m // 8)
    bend = low + hinge(x[low : min(m, first + m // 8)])[0]
    return [ChangePoint(p.index(max(bend, first) * fold), None, "plateau", progress / single, 0.8)]


def _noise(tail: Array) -> float:
    """Long-run sd of the tail around its own straight line."""
    t = np.linspace(-1, 1, tail.size)
    rest = tail - tail.mean() - t * (np.dot(t, tail) / np.dot(t, t))
    rho = lag1(rest)
    return max(spread(rest), TINY) * float(np.sqrt((1 + rho) / (1 - rho)))


def _trends(x: Array) -> Array:
    """For every start: the slope of the straight line through the rest of `x`, in its standard errors at unit noise."""
    t = np.arange(x.size, dtype=float)
    count = x.size - t

    def rest(v: Array) -> Array:
        return np.cumsum(v[::-1])[::-1]

    mean_t, mean_x = rest(t) / count, rest(x) / count
    power = np.maximum(rest(t * t) - count * mean_t**2, 1e-9)
    return as_floats((rest(t * x) - count * mean_t * mean_x) / np.sqrt(power))
