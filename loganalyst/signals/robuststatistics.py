"""Numeric helpers shared by the signals: resistant levels, noise, medians over windows. Nothing here judges."""

from collections.abc import Callable, Sequence
from functools import cache
from operator import sub

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

MAD_TO_SD = 1.4826  # of a normal distribution (Rousseeuw & Croux 1993)
LONG = 20_000  # points from which a smooth curve needs no floor of its noise
TINY = 1e-12  # smallest noise that counts, as a fraction of the curve's own size
NARROW, MANY = 16, 4000  # windows of at most this width, and from this number on, are sorted side by side
WIDE = 2000  # points from which one is selected faster than all are sorted
CACHED = 1 << 17  # values of many rows at once: they stay in a cache of the processor


def as_floats(values: ArrayLike) -> Array:
    """Any numeric input as a flat float64 array (a copy only where needed)."""
    return np.asarray(values, dtype=np.float64).ravel()


def exponent(x: Array) -> int:
    """The power of two that brings the largest |x| to 0.5..1: scaling by it is exact and no sum overflows."""
    return int(np.frexp(np.max(np.abs(x), initial=0.0))[1])


def medians(rows: Array) -> Array:
    """Median along the last axis of finite values; by sorting, which numpy does faster than selecting in short rows."""
    width, half = rows.shape[-1], rows.shape[-1] // 2
    if rows.ndim > 1 and rows.size > CACHED and 1 < len(rows) != rows.size:
        some = max(CACHED * len(rows) // rows.size, 1)
        return np.concatenate([medians(rows[k : k + some]) for k in range(0, len(rows), some)])
    narrow = 1 < width <= NARROW and rows.size >= MANY * width
    if narrow:
        columns = _middle(rows)
        upper, lower = columns[half], columns[half - 1]
    elif width >= WIDE:
        parted = rows.copy()
        parted.partition(half)
        upper, lower = parted[..., half], parted[..., :half].max(axis=-1)
    else:
        ordered = rows.copy()
        ordered.sort()  # as np.sort does, without its calls in between
        upper, lower = ordered[..., half], ordered[..., half - 1]
    return np.asarray(upper if width % 2 else (lower + upper) / 2)


def median(x: Array) -> float:
    """The median of finite values; at least one."""
    return float(medians(x))


def quantiles(x: Array, shares: Sequence[float]) -> Array:
    """Quantiles of finite values (at least one), on straight lines between them: as numpy's, at the price of a sort."""
    ordered, at = np.sort(x, axis=None), np.array(shares) * (x.size - 1)
    low = at.astype(np.intp)
    high, rest = np.minimum(low + 1, x.size - 1), at - low
    step = ordered[high] - ordered[low]
    return as_floats(np.where(rest < 0.5, ordered[low] + step * rest, ordered[high] - step * (1 - rest)))


def _middle(rows: Array) -> list[Array]:
    """The columns of the rows, sorted as far as their middle needs: two rows of minima and maxima a comparison take
    half the time of as many small sorts.
    """
    columns = [rows[..., i] for i in range(rows.shape[-1])]
    for a, b in _network(len(columns)):
        columns[a], columns[b] = np.minimum(columns[a], columns[b]), np.maximum(columns[a], columns[b])
    return columns


@cache
def _network(n: int) -> tuple[tuple[int, int], ...]:
    """The comparisons of a merge sort of n values (Batcher 1968) that bear on those in the middle."""
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
    """Robust standard deviation: 1.4826 MAD, or the mean absolute deviation where half the values are equal."""
    return float(spreads(x)) if x.size else 0.0


def spreads(rows: Array) -> Array:
    """The same along the last axis."""
    away = np.abs(rows - medians(rows)[..., None])
    mad = np.asarray(medians(away) * MAD_TO_SD)
    return mad if (mad > 0).all() else np.where(mad > 0, mad, np.mean(away, axis=-1) * 1.2533)


def blocks(x: Array, size: int) -> NDArray[np.float64]:
    """Medians of consecutive blocks of `size` points; a shorter rest joins as a last block of its own."""
    if size <= 1:
        return x
    whole = x.size // size * size
    middle = medians(x[:whole].reshape(-1, size))
    return np.append(middle, median(x[whole:])) if whole < x.size else middle


def running_median(x: Array, half: int) -> Array:
    """Median over `2·half+1` neighbours; windows shrink symmetrically at the ends: a monotone curve stays as it is."""
    n = x.size
    half = min(half, (n - 1) // 2)
    if half < 1:
        return x.copy()
    out = np.empty(n)
    out[half : n - half] = medians(sliding_window_view(x, 2 * half + 1))
    at = np.arange(half)  # both ends, with windows of 2·at+1 points: the middle one of an odd number
    ends = np.stack((x[: 2 * half - 1], x[: -2 * half : -1]))[:, None, :]
    ordered = np.sort(np.where(np.arange(2 * half - 1) <= 2 * at[:, None], ends, np.inf), axis=-1)
    out[:half], out[-1 : -half - 1 : -1] = ordered[:, at, at]
    return out


def smooth(x: Array, points: int = 400, half: int = 3) -> Array:
    """Full-length smooth of `x`: block medians (at most about `points`), running median, linear interpolation.

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


def around(x: Array, rest: Callable[[Array, Array], Array] = sub, half: int = 5) -> Array:
    """What `rest` makes of each value and its local median over 2·half+1 points, in rows along the curve.

    Rows are 10 to 200 evenly spread stretches of some 100 points, so the work is bounded; short curves give one row.
    """
    half = min(half, (x.size - 1) // 2)
    if x.size < 200:
        return rest(x[half : x.size - half], medians(sliding_window_view(x, 2 * half + 1)))[..., None, :]
    starts = np.linspace(0, x.size - 100, min(200, x.size // 20)).astype(int)
    if x.size < LONG:  # the stretches overlap
        whole = rest(x[half : x.size - half], medians(sliding_window_view(x, 2 * half + 1)))
        return sliding_window_view(whole, 100 - 2 * half, axis=-1)[..., starts, :]
    rows = sliding_window_view(x, 100)[starts]
    return rest(rows[:, half : 100 - half], medians(sliding_window_view(rows, 2 * half + 1, axis=1)))


def residual_noise(x: Array) -> float:
    """Robust sd around a local median (11 points, or what there is), with the window's own loss of spread undone."""
    if x.size < 4:
        return 0.0
    half = min(5, (x.size - 1) // 2)
    noise = spread(around(x, half=half).ravel()) * float(np.sqrt(1 + np.pi / 2 / (2 * half + 1)))
    return max(noise, jitter(x) if x.size <= LONG else 0.0)


def jitter(x: Array) -> float:
    """Robust sd of white noise on a smooth curve, from second differences: a floor for curves that run monotone, whose
    running median is the curve itself.
    """
    return spread(np.diff(x, n=2)) / float(np.sqrt(6.0)) if x.size >= 5 else 0.0


def lag1(r: Array) -> float:
    """Autocorrelation at lag 1 of residuals, clipped to 0..0.98; 0 where there are too few."""
    if r.size < 8:
        return 0.0
    r = r - r.mean()
    power = float(np.dot(r, r))
    return float(np.clip(np.dot(r[1:], r[:-1]) / power, 0.0, 0.98)) if power > 0 else 0.0


def long_run(x: Array) -> float:
    """Square root of the long-run variance of an AR(1) series, from its differences at some lags, which neither a trend
    nor some steps disturb (Chakar, Lebarbier, Lévy-Leduc, Robin, Bernoulli 23, 2017). 0 below 30 points.
    """
    if x.size < 30:
        return 0.0
    size = {k: max(spread(x[k:] - x[:-k]), TINY) for k in (1, 2, 3, 6)}
    near, far = (float(np.clip((size[2 * k] / size[k]) ** 2 - 1, 0.0, 0.95)) ** (1 / k) for k in (1, 3))
    rho = min(near, far)  # means of blocks look more persistent at once, white noise at some distance
    return size[3] * float(np.sqrt((1 + rho) / (1 - rho) / 2 / (1 - rho**3)))
