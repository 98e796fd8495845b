"""The seasonal part of a series: what repeats at a steady period."""

import numpy as np

from loganalyst.signals.robuststatistics import TINY, Array, median, spread

MIN_AUTOCORRELATION = 0.4  # of the differences at the period
MIN_PERIOD = 3  # points
MIN_REPEATS = 4  # periods in the series


def season(y: Array) -> Array:
    """Median of every phase around a running mean of one period; zeros without a season."""
    period = _period(np.diff(y))
    if period is None:
        return np.zeros_like(y)
    mean = np.convolve(np.pad(y, period // 2, mode="reflect"), np.full(period, 1 / period), mode="valid")[: y.size]
    phases = np.array([median((y - mean)[k::period]) for k in range(period)])
    return np.asarray((phases - phases.mean())[np.arange(y.size) % period])


def _period(steps: Array) -> int | None:
    """The shortest lag at which the differences repeat almost as well as at any lag."""
    reach = 4 * max(spread(steps), TINY)
    d = np.clip(steps - median(steps), -reach, reach)
    n, most, power = d.size, d.size // MIN_REPEATS, float(np.dot(d, d))
    if most <= MIN_PERIOD or power == 0:
        return None
    again = np.array([np.dot(d[k:], d[: n - k]) * n / (n - k) / power for k in range(most + 1)])
    inner = np.arange(MIN_PERIOD, most)
    peaks = inner[(again[inner] >= again[inner - 1]) & (again[inner] >= again[inner + 1])]
    best = float(again[peaks].max(initial=0.0))
    return int(peaks[again[peaks] >= 0.9 * best][0]) if best > max(MIN_AUTOCORRELATION, 4 / np.sqrt(n)) else None
