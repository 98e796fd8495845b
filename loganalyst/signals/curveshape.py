"""The shape of one curve in a few robust numbers: levels, trend of the tail, noise, best, flatness, spikes."""

from typing import Any

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from loganalyst.signals.flatness import flat_from
from loganalyst.signals.quantum import ROUNDING_SD, least_ratio, quantum
from loganalyst.signals.robuststatistics import (
    Array,
    as_floats,
    blocks,
    jitter,
    lag1,
    median,
    medians,
    residual_noise,
    running_median,
    smooth,
    spread,
)

MIN_THIRD_POINTS = 3  # points of a third of the tail, for its trend
MIN_SWING_BLOCKS = 12
MIN_SWING = 6.0  # smallest swing, in units of the jitter of the blocks
MIN_TREND = 3.0  # standard errors from which the tail has a trend
MIN_CHANGE_IN_STEPS = 20.0  # usual change in units of the quantum, from which values hardly repeat by chance
MAX_RATIO = 1e9  # ratios and multiples of the noise are clipped here


class Shape(msgspec.Struct, frozen=True):
    """One curve of n values, lower = better (negate a reward first). None = too few points to know.

    - `n`, `finite`, `nonfinite`: counts; `first_nonfinite`: position of the first NaN or ±Inf.
    - `first`: median of the first 5 % (3 points at least); `last`: of the last 10 %, or the end of their trend.
    - `best`, `best_index`: lowest value of the smoothed curve and its position in the given array.
    - `noise`: robust sd around a local median, at least that of the rounding of the values.
    - `minimum`, `maximum`: of the finite values.
    - `tail_slope`: change over the last 30 % as a fraction of its |level| (negative = falling); `tail_slope_z`: the
      same in standard errors (robust noise, corrected for autocorrelation); `tail_cv`: robust sd / |level| of it.
    - `total_relative_drop`: (first − last) / max(|first|, tiny).
    - `rise_ratio`: last / best where both are positive, at least (the rounding of the values allows so much).
    - `plateau_index`: position from which the rest is flat within noise (the last 20 % at least); None = still moving.
    - `swing_count`: rises of the block medians after the first fifth, from a turn to the next, by 6 times their jitter
      or more; `swing_relative`: median size of those rises / |level| (0 without one).
    - `constant_share`: share of the last half that equals the last value (None: rounded values repeat by chance).
    - `spike_count`, `spike_max_ratio`: excursions above 8 local noise units; largest value relative to its local median
      (positive curves only).
    - `recovered`: after the largest excursion the curve returns to its trend within 3 % of the points (None: no spike).

    >>> from loganalyst import signals
    >>> signals.shape([]).best is None
    True
    """

    n: int
    finite: int
    nonfinite: int
    first_nonfinite: int | None = None
    first: float | None = None
    last: float | None = None
    best: float | None = None
    best_index: int | None = None
    noise: float | None = None
    minimum: float | None = None
    maximum: float | None = None
    tail_slope: float | None = None
    tail_slope_z: float | None = None
    tail_cv: float | None = None
    total_relative_drop: float | None = None
    rise_ratio: float | None = None
    plateau_index: int | None = None
    swing_count: int | None = None
    swing_relative: float | None = None
    constant_share: float | None = None
    spike_count: int | None = None
    spike_max_ratio: float | None = None
    recovered: bool | None = None


def shape(values: ArrayLike) -> Shape:
    """Describe `values` (any length, NaN and ±Inf allowed); never raises on numeric input.

    >>> import numpy as np
    >>> from loganalyst import signals
    >>> found = signals.shape(np.linspace(1, 0.1, 200))
    >>> found.best, found.best_index
    (0.1, 199)
    """
    v = as_floats(values)
    where = np.flatnonzero(np.isfinite(v))
    bad = v.size - where.size
    first_bad = int(np.argmin(np.isfinite(v))) if bad else None
    if not where.size:
        return Shape(v.size, 0, bad, first_bad)
    x = np.clip(v[where], -1e150, 1e150)
    step = quantum(v)
    noise = max(residual_noise(x), ROUNDING_SD * step)
    unit = max(noise, 1e-9 * median(np.abs(x)), 1e-300)
    return Shape(
        n=v.size,
        finite=where.size,
        nonfinite=bad,
        first_nonfinite=first_bad,
        noise=noise if x.size >= 4 else None,
        constant_share=_constant_share(x, step),
        plateau_index=None if (flat := _plateau(x, step)) is None else int(where[flat]),
        **_levels(x, where, step),
        **_swings(x, step),
        **_tail(x, unit, step),
        **_spikes(x, unit),
    )


def _levels(x: Array, where: "np.ndarray[tuple[int], np.dtype[np.intp]]", step: float) -> dict[str, Any]:
    """First, last, best and extreme values. `where`: the positions of `x` in the given array."""
    curve = smooth(x, half=1 if x.size < 30 else 3)
    first, last = median(x[: max(3, x.size // 20)]), _end(x[-max(1, x.size // 10) :], step)
    best = int(np.argmin(curve))
    low = float(curve[best])
    return {
        "first": first,
        "last": last,
        "best": low,
        "best_index": int(where[best]),
        "minimum": float(x.min()),
        "maximum": float(x.max()),
        "total_relative_drop": _bounded((first - last) / max(abs(first), 1e-300)),
        "rise_ratio": None if (ratio := least_ratio(last, low, step)) is None else _bounded(ratio),
    }


def _bounded(x: float) -> float:
    return float(np.clip(x, -MAX_RATIO, MAX_RATIO))


def _constant_share(x: Array, step: float) -> float | None:
    """The constant share of Shape. Values that usually change by little more than their rounding repeat by chance."""
    changes = np.abs(np.diff(x))
    changes = changes[changes > 0] if step else changes
    if x.size < 2 or (step and median(changes) < MIN_CHANGE_IN_STEPS * step):
        return None
    return float(np.mean(x[x.size // 2 :] == x[-1]))


def _end(tail: Array, step: float) -> float:
    """Level at the end of `tail`: the end of a line through the medians of its thirds if it has a trend, as a median
    lags behind.
    """
    size = tail.size // 3
    if size < MIN_THIRD_POINTS:
        return median(tail)
    low, middle, high = medians(tail[-3 * size :].reshape(3, size))
    trend = float(high - low) / 2
    residuals = tail[-3 * size :] - middle - trend * np.linspace(-1.5, 1.5, 3 * size)
    half_width = float(np.sqrt(np.pi / size)) / 2  # of the difference of two medians, in units of the noise
    error = max(spread(residuals) * half_width, ROUNDING_SD * step)
    return float(middle) + 1.5 * trend if abs(trend) > MIN_TREND * error else median(tail)


def _tail(x: Array, unit: float, step: float) -> dict[str, Any]:
    """Trend and spread of the last 30 %."""
    tail = x[-max(5, int(x.size * 0.3)) :]
    if x.size < 5:
        return {}
    t = np.linspace(-0.5, 0.5, tail.size)
    slope = float(np.dot(t, tail) / np.dot(t, t))
    level = abs(median(tail)) or 1e-300
    residuals = tail - tail.mean() - slope * t
    rho = lag1(residuals)
    error = max(spread(residuals), 1e-3 * unit, ROUNDING_SD * step, 1e-300) * np.sqrt(
        (1 + rho) / (1 - rho) / np.dot(t, t)
    )
    return {
        "tail_slope": _bounded(slope / level),
        "tail_slope_z": _bounded(slope / error),
        "tail_cv": _bounded(spread(tail) / level),
    }


def _swings(x: Array, step: float) -> dict[str, Any]:
    """The swings of Shape, on at most 200 blocks."""
    raw = blocks(x[x.size // 5 :], max(1, x.size // 200))
    level = running_median(raw, 1)
    if level.size < MIN_SWING_BLOCKS:
        return {}
    up = np.diff(level) > 0
    turns = np.concatenate([[0], np.flatnonzero(up[1:] != up[:-1]) + 1, [level.size - 1]])
    rises = np.diff(level[turns])
    high = rises[rises > MIN_SWING * max(jitter(raw), ROUNDING_SD * step)]
    middle = abs(median(level)) or 1e-300
    return {"swing_count": high.size, "swing_relative": _bounded(median(high) / middle) if high.size else 0.0}


def _plateau(x: Array, step: float) -> int | None:
    """First position from which the rest is flat, on some 200 block medians."""
    size = max(1, x.size // 200)
    flat = flat_from(blocks(x, size), rounding=ROUNDING_SD * step)
    return None if flat is None else flat * size


def _spikes(x: Array, unit: float) -> dict[str, Any]:
    """Excursions above the running level."""
    if x.size < 7:
        return {}
    base = smooth(x, points=max(400, x.size // 8), half=2) if x.size > 400 else running_median(x, 5)
    high = np.flatnonzero(x - base > 8 * unit)
    starts = high[np.diff(high, prepend=-10) > 3]
    with np.errstate(over="ignore"):  # relative to the smallest floats, a ratio overflows
        ratio = _bounded(float(np.max(x / base))) if x.min() > 0 else None
    back = None
    if high.size:
        top = int(high[np.argmax(x[high] - base[high])])
        after = x[top + 1 : top + 1 + max(3, int(0.03 * x.size))] - base[top + 1 : top + 1 + max(3, int(0.03 * x.size))]
        back = bool(np.any(after < 3 * unit)) if after.size else False
    return {"spike_count": int(starts.size), "spike_max_ratio": ratio, "recovered": back}
