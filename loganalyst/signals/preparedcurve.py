"""One curve prepared for the detectors: finite, oriented (higher = worse), on a scale with even noise."""

import msgspec
import numpy as np
from numpy.typing import NDArray

from loganalyst.signals.quantum import ROUNDING_SD, quantum
from loganalyst.signals.robuststatistics import (
    MAX_FLOOR_POINTS,
    TINY,
    Array,
    around,
    as_floats,
    blocks,
    exponent,
    jitter,
    lag1,
    median,
    medians,
    quantiles,
    residual_noise,
    running_median,
    smooth,
    spread,
    spreads,
)

MAX_BLOCKS = 1000  # points of the coarse curve, about
NOISE_SAMPLE = 5000  # points from which the overall noise is estimated
STRETCH_SAMPLE = 400  # points of a stretch from which its noise is estimated
LINEAR_RANGE = 30.0  # multiples of the noise up to which asinh is nearly linear


class Prepared(msgspec.Struct, frozen=True):
    """A curve of n finite values and its coarse form of m blocks of `size` points.

    - `y` (n): oriented and transformed values; `where` (n): their positions in the given array.
    - `trend` (n): local median of `y`; `noise` (n): local robust sd around it.
    - `level` (m): block medians with clipped outliers; `level_noise` (m): their local robust sd.
    - `step` (n), `level_step` (m): the quantum of the values on the scale of `y` (0 in full precision). No noise is
      below that of rounding.
    - `stretch`: factor by which autocorrelation widens the error of a mean of blocks, sqrt((1+rho)/(1-rho)).
    - `logged`: whether `y` is a logarithm.
    """

    y: Array
    where: NDArray[np.intp]
    trend: Array
    noise: Array
    size: int
    level: Array
    level_noise: Array
    step: Array
    level_step: Array
    stretch: float
    logged: bool

    def index(self, block: int) -> int:
        """First point of a block."""
        return min(block * self.size, self.y.size - 1)


def prepare(values: Array, sign: int = 1) -> Prepared:
    """Prepare a curve of any length; `sign` -1 turns it upside down (for metrics where down is worse)."""
    where = np.flatnonzero(np.isfinite(values))
    y, unit = even_noise(values[where])
    step = on_scale(quantum(values), y, unit)
    y = sign * (y - median(y)) if y.size else y
    trend = smooth(y, points=max(400, y.size // 8), half=2 if y.size > 400 else 5) if y.size else y
    noise = np.maximum(local_noise(y, trend), ROUNDING_SD * step)
    size = max(1, -(-y.size // MAX_BLOCKS))
    raw = blocks(y, size)
    middle = running_median(raw, 7)
    level_step = blocks(step, size)
    level_noise = np.maximum(local_noise(raw, middle), np.maximum(0.1 * blocks(noise, size), ROUNDING_SD * level_step))
    residuals = np.clip(raw - middle, -4 * level_noise, 4 * level_noise)
    rho = lag1(residuals)
    stretch = float(np.sqrt((1 + rho) / (1 - rho)))
    return Prepared(
        y, where, trend, noise, size, middle + residuals, level_noise, step, level_step, stretch, unit is None
    )


def on_scale(quantum: float, y: Array, unit: float | None) -> Array:
    """The size of the quantum at each point on the scale of `even_noise`."""
    if not quantum or unit == 0:
        return np.broadcast_to(0.0, y.size)
    return quantum * np.exp(-y) if unit is None else quantum / unit / np.cosh(y)


def even_noise(x: Array) -> tuple[Array, float | None]:
    """The logarithm if it evens out the noise of a positive curve, and None. Otherwise asinh around the median in units
    of the bulk, and that unit.
    """
    if not x.size:
        return x, 0.0
    if x.min() > 0 and _multiplicative(x):
        return np.log(x), None
    power = exponent(x)
    x = np.ldexp(x, -power)
    centre = median(x)
    bulk = float(np.subtract(*quantiles(x[:: max(1, x.size // MAX_FLOOR_POINTS)], (0.9, 0.1))))
    unit = max(LINEAR_RANGE * residual_noise(x), bulk, TINY * median(np.abs(x)), TINY * float(np.abs(x).max()) * TINY)
    if unit == 0:
        return np.zeros_like(x), 0.0
    with np.errstate(over="ignore"):  # values so large have no quantum
        whole_unit = float(np.ldexp(unit, power))
    return np.arcsinh(np.clip((x - centre) / unit, -1e300, 1e300)), whole_unit


def _multiplicative(x: Array) -> bool:
    """Whether relative residuals have a more even size along the curve, and are less skewed, than absolute ones."""
    if x.size < 60:
        return True
    relative, absolute = around(x, _residuals)
    return _uneven(relative) <= _uneven(absolute)


def _residuals(value: Array, level: Array) -> Array:
    """Relative and absolute residuals (the latter halved, so that no difference overflows)."""
    return np.stack((np.log(value) - np.log(level), np.ldexp(value, -1) - np.ldexp(level, -1)))


def _uneven(residuals: Array) -> float:
    """Spread of log(noise) over the rows, plus |log| of upper over lower tail."""
    noise = np.log(np.maximum(medians(np.abs(residuals)), 1e-300))
    low, middle, high = quantiles(residuals, (0.025, 0.5, 0.975))
    skew = np.log(max(high - middle, 1e-300)) - np.log(max(middle - low, 1e-300))
    return spread(noise) + abs(float(skew))


def local_noise(x: Array, trend: Array) -> Array:
    """Robust sd around the trend in some 50 stretches of at least 40 points, interpolated; never 0."""
    n = x.size
    if n == 0:
        return x
    residuals = x - trend
    size = max(40, n // 50)
    overall = max(spread(residuals[:: max(1, n // NOISE_SAMPLE)]), TINY, jitter(x) if n <= MAX_FLOOR_POINTS else 0.0)
    if n < 2 * size:
        return np.full(n, overall)
    rows = slice(0, n // size * size)
    floor = spreads(np.diff(x[rows].reshape(-1, size)[:, :200], n=2, axis=1)) / np.sqrt(6.0)  # as in jitter
    local = np.maximum(spreads(residuals[rows].reshape(-1, size)[:, :STRETCH_SAMPLE]), floor)
    local = np.maximum(running_median(local, 1), 0.2 * overall)
    return as_floats(np.interp(np.arange(n), (np.arange(local.size) + 0.5) * size, local))
