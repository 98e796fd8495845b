"""A sustained rise above the best level so far that lasts to the end."""

import numpy as np

from loganalyst.model import ChangePoint
from loganalyst.signals.bends import hinge, jump
from loganalyst.signals.preparedcurve import Prepared
from loganalyst.signals.robuststatistics import Array, median, running_median

MIN_RISE = 8.0  # noise units of a block median
MIN_LOST_SHARE = 0.25  # share of the progress that must be lost, or
MIN_LOG_RISE = 0.69  # rise of the logarithm: to twice the best
MIN_SWING_RATIO = 1.2  # rise relative to the largest other swing back
MAX_MISFIT_RATIO = 0.8  # the values show the bend better if their misfit is below this share of the logarithm's
# A jump shows better than a bend if its misfit is below this share of the bend's; a climb of some values is no jump
MAX_JUMP_MISFIT = 0.25
MAX_SIDE_BLOCKS = 150  # blocks examined on one side of the onset


def divergence(p: Prepared) -> list[ChangePoint]:
    """At most one; `index` is the point where the curve left its trend for good."""
    level = running_median(p.level, 1)
    if level.size < 7:
        return []
    few = max(3, level.size // 50)
    best = int(np.argmin(level))
    end = median(p.level[-few:])
    rise = end - float(level[best])
    progress = median(level[:few]) - float(level[best])
    unit = median(p.level_noise) * p.stretch
    if rise < MIN_SWING_RATIO * max(_swing(level[: best + 1]), _swing(-level[best:])):
        return []
    if rise < MIN_RISE * unit or (rise < MIN_LOST_SHARE * progress and not (p.logged and rise > MIN_LOG_RISE)):
        return []
    calm = int(np.flatnonzero(level < level[best] + max(3 * unit, 0.1 * rise))[-1]) + 1
    if level.size - calm < 3:
        return []
    z = rise / unit
    onset = _onset(p, calm, float(level[best]) + rise / 2)
    return [ChangePoint(p.index(onset), None, "divergence", z, 1 - 0.5 * MIN_RISE / z)]


def _swing(x: Array) -> float:
    """The largest rise above the lowest level so far."""
    return float(np.max(x - np.minimum.accumulate(x)))


def _onset(p: Prepared, calm: int, half: float) -> int:
    """The bend around the last calm block, of the logarithm or of the values, whichever bends more clearly."""
    level = p.level
    up = np.flatnonzero(running_median(level, 1)[calm:] > half)
    right = int(np.clip(up[0] if up.size else 0, 5, MAX_SIDE_BLOCKS))
    low, high = max(0, calm - max(15, 2 * right)), min(level.size, calm + right)
    if high - low < 5:
        return calm
    x = level[low:high]
    bend = hinge(x)
    if p.logged:
        plain = np.exp(x - x.max())
        other = hinge(plain)
        bend = other if _misfit(plain, other) < MAX_MISFIT_RATIO * _misfit(x, bend) else bend
    at = jump(x)
    return low + (at if _misfit(x, at, jumps=True) < MAX_JUMP_MISFIT * _misfit(x, bend) else bend)


def _misfit(x: Array, at: int, *, jumps: bool = False) -> float:
    """Share of the squares of `x` that a line with one bend (or jump) at a point does not explain."""
    t = np.linspace(0.0, 1.0, x.size)
    lines = np.stack((np.ones(x.size), t, t >= t[at] if jumps else np.maximum(t - t[at], 0.0)), axis=1)
    residuals = x - lines @ np.linalg.lstsq(lines, x, rcond=None)[0]
    return float(np.dot(residuals, residuals)) / max(float(np.dot(x - x.mean(), x - x.mean())), 1e-300)
