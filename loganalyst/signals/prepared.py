"""One curve made ready for the detectors: finite, oriented (higher = worse), in a scale where its noise is even."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loganalyst.signals.robust import (
    TINY,
    Array,
    blocks,
    exponent,
    lag1,
    residual_noise,
    running_median,
    smooth,
    spread,
)

BLOCKS = 1000  # the coarse curve has at most about this many points
FOLD = 30.0  # noise multiples up to which asinh is nearly linear


@dataclass(frozen=True)
class Prepared:
    """`y`: the finite values, oriented and transformed; `where`: their positions in the given array; `trend`: local
    median of `y`; `noise`: local robust sd (same length). `level`: block medians of `size` points each with
    `level_noise`, their robust sd around the trend, and `stretch`, the factor by which autocorrelation widens the
    error of a mean of blocks: sqrt((1+rho)/(1-rho)). `logged`: whether `y` is a logarithm.
    """

    y: Array
    where: NDArray[np.intp]
    trend: Array
    noise: Array
    size: int
    level: Array
    level_noise: float
    stretch: float
    logged: bool


def prepare(values: Array, sign: int = 1) -> Prepared:
    """Prepare a curve of any length; `sign` -1 turns it over (for metrics where down is worse)."""
    where = np.flatnonzero(np.isfinite(values))
    y, logged = _even(values[where])
    y = sign * y
    trend = smooth(y, points=max(400, y.size // 8), half=2 if y.size > 400 else 5) if y.size else y
    noise = _local_noise(y - trend)
    size = max(1, -(-y.size // BLOCKS))
    level = blocks(y, size)
    rest = level - running_median(level, 7)
    level_noise = max(spread(rest), float(np.median(noise)) * 0.1 if noise.size else 0.0)
    rho = lag1(np.clip(rest, -4 * level_noise, 4 * level_noise))
    return Prepared(y, where, trend, noise, size, level, level_noise, float(np.sqrt((1 + rho) / (1 - rho))), logged)


def _even(x: Array) -> tuple[Array, bool]:
    """Logarithm for positive curves, else asinh around the median in units of the noise."""
    if not x.size:
        return x, False
    if x.min() > 0:
        return np.log(x), True
    x = np.ldexp(x, -exponent(x))
    centre = float(np.median(x))
    unit = max(FOLD * residual_noise(x), TINY * float(np.median(np.abs(x))), TINY * float(np.abs(x).max()) * TINY)
    if unit == 0:
        return np.zeros_like(x), False
    return np.arcsinh(np.clip((x - centre) / unit, -1e300, 1e300)), False


def _local_noise(rest: Array) -> Array:
    """Robust sd of the residuals in some 50 stretches of 40 points at least, interpolated; never 0."""
    n = rest.size
    if n == 0:
        return rest
    size = max(40, n // 50)
    overall = max(spread(rest), TINY)
    if n < 2 * size:
        return np.full(n, overall)
    starts = np.arange(0, n - size + 1, size)
    local = np.array([spread(rest[s : s + size]) for s in starts])
    local = np.maximum(running_median(local, 1), 0.2 * overall)
    return np.interp(np.arange(n), starts + size / 2, local)
