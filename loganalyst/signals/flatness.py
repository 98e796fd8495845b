"""From where on a curve is flat within its own noise."""

import numpy as np

from loganalyst.signals.robuststatistics import TINY, Array, as_floats, lag1, spread

SHORTEST = 0.2  # share of the curve that must be flat
STILL = 3.0  # standard errors of a rest's trend that still count as none


def flat_from(x: Array, still: float = STILL) -> int | None:
    """First point of `x` from which no rest of it has a trend of `still` standard errors; None if it moves.

    Give some 200 block medians: every rest is tested, and the error takes autocorrelation into account.
    """
    if x.size < 20:
        return None
    noise = long_run_noise(x[-max(10, int(x.size * SHORTEST)) :])
    last = int(x.size * (1 - SHORTEST))
    moving = np.flatnonzero(np.abs(_trends(x)[: last + 1]) > still * noise)
    first = int(moving[-1]) + 1 if moving.size else 0
    return first if first <= last else None


def long_run_noise(tail: Array) -> float:
    """Robust sd around the tail's own straight line, widened for autocorrelation."""
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
