"""The part of a series that repeats at a steady period."""

import numpy as np

from loganalyst.signals.robuststatistics import TINY, Array, median, spread

REPEATS = 0.4  # autocorrelation of the differences that a season has at least
SHORTEST = 3  # points of a period
TIMES = 4  # periods that must be there


def season(y: Array) -> Array:
    """Median of every phase around a running mean of one period; zeros without a season."""
    period = _period(np.diff(y))
    if period is None:
        return np.zeros_like(y)
    mean = np.convolve(np.pad(y, period // 2, mode="reflect"), np.full(period, 1 / period), mode="valid")[: y.size]
    phases = np.array([median((y - mean)[k::period]) for k in range(period)])
    return np.asarray((phases - phases.mean())[np.arange(y.size) % period])


def _period(steps: Array) -> int | None:
    """The shortest lag at which differences repeat themselves about as well as at any."""
    reach = 4 * max(spread(steps), TINY)
    d = np.clip(steps - median(steps), -reach, reach)
    n, most, power = d.size, d.size // TIMES, float(np.dot(d, d))
    if most <= SHORTEST or power == 0:
        return None
    again = np.array([np.dot(d[k:], d[: n - k]) * n / (n - k) / power for k in range(most + 1)])
    inner = np.arange(SHORTEST, most)
    peaks = inner[(again[inner] >= again[inner - 1]) & (again[inner] >= again[inner + 1])]
    best = float(again[peaks].max(initial=0.0))
    return int(peaks[again[peaks] >= 0.9 * best][0]) if best > max(REPEATS, 4 / np.sqrt(n)) else None
