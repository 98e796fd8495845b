"""Numeric helpers of the signals: robust levels, noise, running medians. Nothing here judges."""

from collections.abc import Callable, Sequence
from functools import cache
from operator import sub

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

MAD_TO_SD = 1.4826  # of a normal distribution (Rousseeuw & Croux 1993)
MAX_FLOOR_POINTS = 20_000  # points up to which a smooth curve needs a floor for its noise
TINY = 1e-12  # smallest noise that counts, as a share of the curve's own size
MAX_NETWORK_WIDTH, MIN_NETWORK_ROWS = 16, 4000  # many short rows are sorted by a sorting network, column by column
MIN_SELECT_WIDTH = 2000  # values of a row from which selection is faster than sorting
CACHED_VALUES = 1 << 17  # values handled at once: they fit in a cache of the processor


def as_floats(values: ArrayLike) -> Array:
    """Any numeric input as a flat float64 array (a copy only where needed)."""
    return np.asarray(values, dtype=np.float64).ravel()


def exponent(x: Array) -> int:
    """The power of two that scales the largest |x| to 0.5..1: scaling by it is exact and no sum overflows."""
    return int(np.frexp(np.max(np.abs(x), initial=0.0))[1])


def medians(rows: Array) -> Array:
    """Median along the last axis of finite values; by sorting, which numpy does faster than selecting in short rows."""
    width, half = rows.shape[-1], rows.shape[-1] // 2
    if rows.ndim > 1 and rows.size > CACHED_VALUES and 1 < len(rows) != rows.size:
        some = max(CACHED_VALUES * len(rows) // rows.size, 1)
        return np.concatenate([medians(rows[k : k + some]) for k in range(0, len(rows), some)])
    narrow = 1 < width <= MAX_NETWORK_WIDTH and rows.size >= MIN_NETWORK_ROWS * width
    if narrow:
        columns = _sorted_middle(rows)
        upper, lower = columns[half], columns[half - 1]
    elif width >= MIN_SELECT_WIDTH:
        divided = rows.copy()
        divided.partition(half)
        upper, lower = divided[..., half], divided[..., :half].max(axis=-1)
    else:
        ordered = rows.copy()
        ordered.sort()  # as np.sort, without its overhead
        upper, lower = ordered[..., half], ordered[..., half - 1]
    return np.asarray(upper if width % 2 else (lower + upper) / 2)


def median(x: Array) -> float:
    """The median of at least one finite value."""
    return float(medians(x))


def quantiles(x: Array, shares: Sequence[float]) -> Array:
    """Quantiles of at least one finite value, with linear interpolation: numpy's results at the price of a sort."""
    ordered, at = np.sort(x, axis=None), np.array(shares) * (x.size - 1)
    low = at.astype(np.intp)
    high, rest = np.minimum(low + 1, x.size - 1), at - low
    step = ordered[high] - ordered[low]
    return as_floats(np.where(rest < 0.5, ordered[low] + step * rest, ordered[high] - step * (1 - rest)))


def _sorted_middle(rows: Array) -> list[Array]:
    """The columns of the rows, sorted as far as the middle needs it: minima and maxima of whole columns take half the
    time of as many small sorts.
    """
    columns = [rows[..., i] for i in range(rows.shape[-1])]
    for a, b in _network(len(columns)):
        columns[a], columns[b] = np.minimum(columns[a], columns[b]), np.maximum(columns[a], columns[b])
    return columns


@cache
def _network(n: int) -> tuple[tuple[int, int], ...]:
    """The comparisons of a merge sort of n values (Batcher 1968) that affect the middle ones."""
    powers = [1 << i for i in range((n - 1).bit_length())]
    steps = [(p, k) for p in powers for k in reversed(powers) if k <= p]
    pairs = [
        (i + j, i + j + k)
        for p, k in steps for j in range(k % p, n - k, 2 * k) for i in range(min(k, n - j - k))
        if (i + j) // (2 * p) == (i + j + k) // (2 * p)
    ]  # fmt: skip
    needed, kept = {(n - 1) // 2, n // 2}, list[tuple[int, int]]()
    for pair in reversed(pairs):
        if needed.intersection(pair):
            needed.update(pair)
            kept.append(pair)
    return tuple(reversed(kept))


def spread(x: Array) -> float:
    """Robust standard deviation: 1.4826 MAD, or the mean absolute deviation if half of the values are equal."""
    return float(spreads(x)) if x.size else 0.0


def spreads(rows: Array) -> Array:
    """Robust standard deviation along the last axis."""
    away = np.abs(rows - medians(rows)[..., None])
    mad = np.asarray(medians(away) * MAD_TO_SD)
    return mad if (mad > 0).all() else np.where(mad > 0, mad, np.mean(away, axis=-1) * 1.2533)


def blocks(x: Array, size: int) -> NDArray[np.float64]:
    """Medians of consecutive blocks of `size` points; a shorter remainder is the last block."""
    if size <= 1:
        return x
    whole = x.size // size * size
    middle = medians(x[:whole].reshape(-1, size))
    return np.append(middle, median(x[whole:])) if whole < x.size else middle


def running_median(x: Array, half: int) -> Array:
    """Median over `2·half+1` neighbours. Windows shrink symmetrically at the ends, so a monotone
    curve stays unchanged.
    """
    n = x.size
    half = min(half, (n - 1) // 2)
    if half < 1:
        return x.copy()
    out = np.empty(n)
    out[half : n - half] = medians(sliding_window_view(x, 2 * half + 1))
    at = np.arange(half)  # windows of 2·at+1 points at both ends; position `at` of the sorted ones is the median
    ends = np.stack((x[: 2 * half - 1], x[: -2 * half : -1]))[:, None, :]
    ordered = np.sort(np.where(np.arange(2 * half - 1) <= 2 * at[:, None], ends, np.inf), axis=-1)
    out[:half], out[-1 : -half - 1 : -1] = ordered[:, at, at]
    return out


def smooth(x: Array, points: int = 400, half: int = 3) -> Array:
    """Full-length smooth of `x`: block medians (about `points` at most), running median, linear interpolation.

    Both ends, where there is nothing to interpolate, are running medians at full resolution.
    """
    size = max(1, -(-x.size // points))
    level = running_median(blocks(x, size), half)
    if size == 1 or level.size < 4:
        return running_median(x, half) if size > 1 else level
    centres = np.minimum(np.arange(level.size) * size + (size - 1) / 2, x.size - 1)
    out = np.interp(np.arange(x.size), centres, level)
    edge, window = size * (half + 1), min(size * half, 20)
    out[:edge] = running_median(x[: edge + window], window)[:edge]
    out[-edge:] = running_median(x[-edge - window :], window)[-edge:]
    return out


def around(x: Array, residual: Callable[[Array, Array], Array] = sub, half: int = 5) -> Array:
    """The `residual` of each value and its local median over 2·half+1 points, in rows along the curve.

    Rows are 10 to 200 evenly spaced stretches of some 100 points, which bounds the work; short curves give one row.
    """
    half = min(half, (x.size - 1) // 2)
    if x.size < 200:
        return residual(x[half : x.size - half], medians(sliding_window_view(x, 2 * half + 1)))[..., None, :]
    starts = np.linspace(0, x.size - 100, min(200, x.size // 20)).astype(int)
    if x.size < MAX_FLOOR_POINTS:  # the stretches overlap
        whole = residual(x[half : x.size - half], medians(sliding_window_view(x, 2 * half + 1)))
        return sliding_window_view(whole, 100 - 2 * half, axis=-1)[..., starts, :]
    rows = sliding_window_view(x, 100)[starts]
    return residual(rows[:, half : 100 - half], medians(sliding_window_view(rows, 2 * half + 1, axis=1)))


def residual_noise(x: Array) -> float:
    """Robust sd around a local median (11 points, or what there is), corrected for the spread that
    the window removes.
    """
    if x.size < 4:
        return 0.0
    half = min(5, (x.size - 1) // 2)
    noise = spread(around(x, half=half).ravel()) * float(np.sqrt(1 + np.pi / 2 / (2 * half + 1)))
    return max(noise, jitter(x) if x.size <= MAX_FLOOR_POINTS else 0.0)


def jitter(x: Array) -> float:
    """Robust sd of white noise on a smooth curve, from second differences. It is a floor for monotone curves, which
    equal their running median.
    """
    return spread(np.diff(x, n=2)) / float(np.sqrt(6.0)) if x.size >= 5 else 0.0


def lag1(r: Array) -> float:
    """Autocorrelation of residuals at lag 1, clipped to 0..0.98; 0 for too few."""
    if r.size < 8:
        return 0.0
    r = r - r.mean()
    power = float(np.dot(r, r))
    return float(np.clip(np.dot(r[1:], r[:-1]) / power, 0.0, 0.98)) if power > 0 else 0.0


def long_run(x: Array) -> float:
    """Square root of the long-run variance of an AR(1) series, from its differences at some lags. Trends and few steps
    do not disturb it (Chakar, Lebarbier, Lévy-Leduc, Robin, Bernoulli 23, 2017). 0 below 30 points.
    """
    if x.size < 30:
        return 0.0
    size = {k: max(spread(x[k:] - x[:-k]), TINY) for k in (1, 2, 3, 6)}
    near, far = (float(np.clip((size[2 * k] / size[k]) ** 2 - 1, 0.0, 0.95)) ** (1 / k) for k in (1, 3))
    rho = min(near, far)  # block means look more persistent at short lags, white noise at long lags
    return size[3] * float(np.sqrt((1 + rho) / (1 - rho) / 2 / (1 - rho**3)))
