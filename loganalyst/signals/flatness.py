"""The point from which a curve is flat within its own noise."""

import numpy as np

from loganalyst.signals.robuststatistics import TINY, Array, as_floats, lag1, spread

MIN_FLAT_SHARE = 0.2  # share of the curve that must be flat
MAX_FLAT_TREND = 3.0  # standard errors up to which a trend counts as none


def flat_from(x: Array, max_trend: float = MAX_FLAT_TREND, rounding: float = 0.0) -> int | None:
    """First point of `x` from which no remainder of it has a trend above `max_trend` standard errors; None if it moves.
    `rounding` is the least noise, that of the rounding of the values.

    Pass some 200 block medians: every remainder is tested, and the error takes autocorrelation into account.
    """
    if x.size < 20:
        return None
    noise = max(long_run_noise(x[-max(10, int(x.size * MIN_FLAT_SHARE)) :]), rounding)
    last = int(x.size * (1 - MIN_FLAT_SHARE))
    moving = np.flatnonzero(np.abs(_trends(x)[: last + 1]) > max_trend * noise)
    first = int(moving[-1]) + 1 if moving.size else 0
    return first if first <= last else None


def long_run_noise(tail: Array) -> float:
    """Robust sd around the tail's own straight line, widened for autocorrelation."""
    t = np.linspace(-1, 1, tail.size)
    residuals = tail - tail.mean() - t * (np.dot(t, tail) / np.dot(t, t))
    rho = lag1(residuals)
    return max(spread(residuals), TINY) * float(np.sqrt((1 + rho) / (1 - rho)))


def _trends(x: Array) -> Array:
    """For every start: the slope of the straight line through the remainder of `x`, in its standard errors at unit
    noise.
    """
    t = np.arange(x.size, dtype=float)
    count = x.size - t

    def sums_from_here(v: Array) -> Array:
        return np.cumsum(v[::-1])[::-1]

    mean_t, mean_x = sums_from_here(t) / count, sums_from_here(x) / count
    power = np.maximum(sums_from_here(t * t) - count * mean_t**2, 1e-9)
    return as_floats((sums_from_here(t * x) - count * mean_t * mean_x) / np.sqrt(power))
