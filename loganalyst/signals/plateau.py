"""Flat within noise to the end, after progress."""

import numpy as np

from loganalyst.model import ChangePoint
from loganalyst.signals.bends import hinge, trend
from loganalyst.signals.flatness import flat_from, long_run_noise
from loganalyst.signals.preparedcurve import Prepared
from loganalyst.signals.robuststatistics import Array, blocks, median

PROGRESS = 8.0  # standard errors the curve moved before, and
MOVED = 1.0  # so many times the noise of single points
BLOCKS = 200
STILL = 4.0  # standard errors of a rest's trend that still count as none while its start is looked for
MOVING = 3.0  # standard errors at which a knee goes on falling
CREEP = 0.25  # of the slope before, which the slope after is below
SLOW = (0.03, 0.06, 0.12, 0.25, 0.5, 1.0)  # time constants of a decay that slows down, as shares of the stretch
TURN, WIDTH = (0.3, 0.5, 0.7), (0.1, 0.2)  # middles and widths of a sigmoid, as shares of the way to the knee
FEWEST = 10  # blocks that tell a trend
SHORTEST = 0.1  # share of the curve that must be flat
SURE = 2.0  # standard errors that are given to the slope after


def plateau(p: Prepared) -> list[ChangePoint]:
    """At most one; `index` is the first flat point, `effect` the progress before it in units of the noise."""
    fold = max(1, p.level.size // BLOCKS)
    x = blocks(p.level, fold)
    flat = flat_from(x, still=STILL)
    if flat is None or flat < 3:
        return []
    first = _bend(x, flat)
    if first is None:
        return []
    noise, single = long_run_noise(x[first:]), median(p.noise)
    progress = median(x[: max(3, first // 10)]) - median(x[first:])
    if progress < max(PROGRESS * noise, MOVED * single):
        return []
    z = progress / noise
    return [ChangePoint(p.index(first * fold), None, "plateau", progress / single, 1 - 0.5 * PROGRESS / z)]


def _bend(x: Array, flat: int) -> int | None:
    """Where the fall stops; None if the curve only slows down, or may still be falling."""
    before = max(0, flat - (x.size - flat) // 2)
    knee = before + hinge(x[before:])[0]
    fall = -trend(x[max(0, knee - max(5, (x.size - knee) // 2)) : knee])
    first = _settled(x, knee)
    rest = x[first:]
    if rest.size < max(FEWEST, SHORTEST * x.size):
        return None
    still = abs(trend(rest)) + SURE * _error(rest) <= CREEP * fall
    return first if still and _at_once(x[max(0, 2 * knee - x.size) :], knee - max(0, 2 * knee - x.size)) else None


def _at_once(x: Array, knee: int) -> bool:
    """Whether a line that ends at the knee fits `x` better than exponentials, power laws and sigmoids."""
    t = np.arange(x.size) / x.size
    slow = [np.exp(-t / tau) for tau in SLOW] + [(1 + t / tau) ** -power for tau in SLOW for power in (0.5, 1.0)]
    turned = [-np.tanh((t * x.size / knee - at) / width / 2) for at in TURN for width in WIDTH]
    shapes = np.array([np.minimum(t, knee / x.size), *slow, *turned])
    shapes -= shapes.mean(axis=1, keepdims=True)
    gain = (shapes @ (x - x.mean())) ** 2 / np.sum(shapes**2, axis=1)  # of explained squares, two parameters each
    return bool(gain[0] >= np.max(gain[1:]))


def _settled(x: Array, knee: int) -> int:
    """The end of a rounded knee: from there on the next tenth of the curve does not fall any more."""
    step = max(FEWEST, x.size // 10)
    first = knee
    while first + step <= x.size and trend(x[first : first + step]) < -MOVING * _error(x[first : first + step]):
        first += max(1, step // 4)
    return first


def _error(x: Array) -> float:
    """Standard error of the trend of `x`."""
    return long_run_noise(x) * float(np.sqrt(12.0 / x.size**3))
