"""Validation beside training: where validation was best, how far it rose since, whether training went on falling."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from loganalyst.signals.robuststatistics import Array, as_floats, lag1, median, residual_noise, running_median, smooth

WIDER = 3.0  # noise units by which a gap has widened


@dataclass(frozen=True)
class Gap:
    """Two losses (lower is better) on one step axis. None = not tellable (too few points, or no common steps).

    `best_step`, `best_value`, `best_index` are those of the smoothed validation curve (index: position in the given
    validation array); `points_after_best` counts the finite validation points after it. `rise` is the last level less
    the best in units of the validation noise, `rise_ratio` last/best (positive losses). `train_fall` is the relative
    fall of training over the same stretch ((at best − last)/|at best|), `train_fall_z` the same in units of its
    standard error. `final_ratio` is (val − train)/|train| of the last levels, `best_ratio` the same at the best step.
    `widening` is how far the gap (val − train) ended above its smallest, in units of the validation noise, and
    `onset_index` the position in the given validation array from which on it stays above that by more than its noise.

    >>> from loganalyst import signals
    >>> signals.gap([0, 1], [1.0, 0.9], [], []).best_step is None  # no validation: not tellable
    True
    """

    best_step: int | None = None
    best_value: float | None = None
    best_index: int | None = None
    points_after_best: int | None = None
    rise: float | None = None
    rise_ratio: float | None = None
    train_fall: float | None = None
    train_fall_z: float | None = None
    final_ratio: float | None = None
    best_ratio: float | None = None
    widening: float | None = None
    onset_index: int | None = None


def gap(train_steps: ArrayLike, train_values: ArrayLike, val_steps: ArrayLike, val_values: ArrayLike) -> Gap:
    """Compare a training and a validation loss; non-finite points are left out; never raises on numeric input.

    >>> import numpy as np
    >>> from loganalyst import signals
    >>> steps = np.arange(100)
    >>> found = signals.gap(steps, np.exp(-steps / 30), steps, np.abs(steps - 40) / 100 + 0.5)
    >>> found.best_index
    40
    """
    ts, tv, _ = _finite(train_steps, train_values)
    vs, vv, where = _finite(val_steps, val_values)
    if vv.size < 2:
        return Gap()
    level = running_median(vv, 1 if vv.size < 100 else 3)
    lowest = np.flatnonzero(level == level.min())  # neighbours share a median
    best = int(lowest[np.argmin(vv[lowest])])
    last, low = _last(vv), float(level[best])
    noise = max(residual_noise(vv), abs(low) * 1e-6, 1e-300)
    own = Gap(
        best_step=int(vs[best]),
        best_value=float(vv[best]),
        best_index=int(where[best]),
        points_after_best=vv.size - 1 - best,
        rise=_bounded((last - low) / noise),
        rise_ratio=_bounded(last / low) if low > 0 and last > 0 else None,
    )
    if tv.size < 2 or ts[-1] < vs[best]:
        return own
    curve = smooth(tv)
    at_best, at_end = float(np.interp(vs[best], ts, curve)), median(curve[-3:])
    return replace(
        own,
        train_fall=_ratio(at_best - at_end, at_best),
        train_fall_z=_bounded((at_best - at_end) / _error(tv, int(np.count_nonzero(ts >= vs[best])))),
        final_ratio=_ratio(last - at_end, at_end),
        best_ratio=_ratio(low - at_best, at_best),
        **_widening(level - np.interp(vs, ts, curve), noise, where),
    )


def _widening(apart: Array, noise: float, where: "np.ndarray[tuple[int], np.dtype[np.intp]]") -> dict[str, Any]:
    """How far the smoothed gap ended above its smallest, and from where on it stays beyond the noise."""
    last = int(np.flatnonzero(apart <= apart.min() + WIDER * noise)[-1])
    onset = int(where[last + 1]) if last + 1 < apart.size else None
    return {"widening": _bounded((median(apart[-3:]) - float(apart.min())) / noise), "onset_index": onset}


def _error(x: Array, count: int) -> float:
    """Standard error of the difference of two levels over `count` points: a third of them each, autocorrelated."""
    rho = lag1(x - smooth(x))
    noise = max(residual_noise(x), abs(median(x)) * 1e-6, 1e-300)
    return noise * float(np.sqrt((1 + rho) / (1 - rho) * 2 / max(1.0, count / 3)))


def _finite(steps: ArrayLike, values: ArrayLike) -> "tuple[Array, Array, np.ndarray[tuple[int], np.dtype[np.intp]]]":
    """Finite points in order of steps, with their positions in the given array."""
    t, v = as_floats(steps), as_floats(values)
    t, v = t[: v.size], v[: t.size]
    where = np.flatnonzero(np.isfinite(t) & np.isfinite(v))
    where = where[np.argsort(t[where], kind="stable")]
    return t[where], np.clip(v[where], -1e150, 1e150), where


def _last(x: Array) -> float:
    """Level of the end: median of the last tenth, one to five points at least."""
    return median(x[-max(1, min(3, x.size // 5), x.size // 10) :])


def _ratio(part: float, whole: float) -> float | None:
    return _bounded(part / abs(whole)) if whole else None


def _bounded(x: float) -> float:
    return float(np.clip(x, -1e9, 1e9))
