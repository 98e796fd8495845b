"""Flat within noise to the end, after progress."""

import numpy as np

from loganalyst.model import ChangePoint
from loganalyst.signals.bends import hinge, trend
from loganalyst.signals.flatness import flat_from, long_run_noise
from loganalyst.signals.preparedcurve import Prepared
from loganalyst.signals.quantum import ROUNDING_SD
from loganalyst.signals.robuststatistics import Array, blocks, median

MIN_PROGRESS = 8.0  # standard errors that the curve fell before, and
MIN_FALL = 1.0  # the same in units of the noise of single points
MAX_BLOCKS = 200
MAX_FLAT_TREND = 4.0  # standard errors up to which a trend counts as none while the start is searched
MIN_FALLING = 3.0  # standard errors of a trend from which a knee is still falling
MAX_SLOPE_RATIO = 0.25  # slope after, as a share of the slope before
DECAY_TIMES = (0.03, 0.06, 0.12, 0.25, 0.5, 1.0)  # time constants of a decay that slows down, as shares of the stretch
SIGMOID_MIDDLES, SIGMOID_WIDTHS = (0.3, 0.5, 0.7), (0.1, 0.2)  # shares of the way to the knee
MIN_TREND_BLOCKS = 10
MIN_FLAT_SHARE = 0.1  # share of the curve that must be flat
SLOPE_MARGIN = 2.0  # standard errors added to the slope after


def plateau(p: Prepared) -> list[ChangePoint]:
    """At most one; `index` is the first flat point, `effect` the progress before it in units of the noise."""
    fold = max(1, p.level.size // MAX_BLOCKS)
    x = blocks(p.level, fold)
    if not x.size:
        return []
    rounding = ROUNDING_SD * float(p.level_step[-1])
    flat = flat_from(x, MAX_FLAT_TREND, rounding)
    if flat is None or flat < 3:
        return []
    first = _bend(x, flat)
    if first is None:
        return []
    noise, single = max(long_run_noise(x[first:]), rounding), median(p.noise)
    progress = median(x[: max(3, first // 10)]) - median(x[first:])
    if progress < max(MIN_PROGRESS * noise, MIN_FALL * single):
        return []
    z = progress / noise
    return [ChangePoint(p.index(first * fold), None, "plateau", progress / single, 1 - 0.5 * MIN_PROGRESS / z)]


def _bend(x: Array, flat: int) -> int | None:
    """The point where the fall stops; None if the curve only slows down, or may still be falling."""
    before = max(0, flat - (x.size - flat) // 2)
    knee = before + hinge(x[before:])
    fall = -trend(x[max(0, knee - max(5, (x.size - knee) // 2)) : knee])
    first = _settled(x, knee)
    flat_part = x[first:]
    if flat_part.size < max(MIN_TREND_BLOCKS, MIN_FLAT_SHARE * x.size):
        return None
    still = abs(trend(flat_part)) + SLOPE_MARGIN * _error(flat_part) <= MAX_SLOPE_RATIO * fall
    start = max(0, 2 * knee - x.size)  # as many blocks before the knee as after it
    return first if still and _stops_suddenly(x[start:], knee - start) else None


def _stops_suddenly(x: Array, knee: int) -> bool:
    """Whether a line that ends at the knee fits `x` better than exponentials, power laws and sigmoids."""
    t = np.arange(x.size) / x.size
    slow = [np.exp(-t / tau) for tau in DECAY_TIMES] + [
        (1 + t / tau) ** -power for tau in DECAY_TIMES for power in (0.5, 1.0)
    ]
    turned = [-np.tanh((t * x.size / knee - at) / width / 2) for at in SIGMOID_MIDDLES for width in SIGMOID_WIDTHS]
    shapes = np.array([np.minimum(t, knee / x.size), *slow, *turned])
    shapes -= shapes.mean(axis=1, keepdims=True)
    gain = (shapes @ (x - x.mean())) ** 2 / np.sum(shapes**2, axis=1)  # explained squares of fits with two parameters
    return bool(gain[0] >= np.max(gain[1:]))


def _settled(x: Array, knee: int) -> int:
    """The end of a rounded knee: from there on, the next tenth of the curve no longer falls."""
    step = max(MIN_TREND_BLOCKS, x.size // 10)
    first = knee
    while first + step <= x.size and trend(x[first : first + step]) < -MIN_FALLING * _error(x[first : first + step]):
        first += max(1, step // 4)
    return first


def _error(x: Array) -> float:
    """Standard error of the trend of `x`."""
    return long_run_noise(x) * float(np.sqrt(12.0 / x.size**3))
