"""Validation compared with training: where validation was best, its rise since then, and whether
training fell further.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from loganalyst.signals.quantum import ROUNDING_SD, least_ratio, quantum
from loganalyst.signals.robuststatistics import Array, as_floats, lag1, median, residual_noise, running_median, smooth

MIN_WIDENING = 3.0  # noise units from which a gap has widened


@dataclass(frozen=True)
class Gap:
    """Two losses (lower is better) on one step axis. None = not known (too few points, or no common steps).

    - `best_step`, `best_value`, `best_index`: of the smoothed validation curve (index: position in the given array);
      `points_after_best`: finite validation points after it.
    - `rise`: last level minus best, in units of the validation noise; `rise_ratio`: last/best (positive losses),
      at least (the rounding of the values allows so much).
    - `train_fall`: relative fall of training since the best step ((at best − last)/|at best|); `train_fall_z`: the same
      in standard errors.
    - `final_ratio`: (val − train)/|train| of the last levels; `best_ratio`: the same at the best step.
    - `widening`: final gap (val − train) minus smallest gap, in units of the validation noise; `onset_index`: position
      in the given validation array from which the gap exceeds its smallest by more than the noise.

    >>> from loganalyst import signals
    >>> signals.gap([0, 1], [1.0, 0.9], [], []).best_step is None  # no validation
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
    last, low, step = _last_level(vv), float(level[best]), quantum(vv)
    noise = max(residual_noise(vv), ROUNDING_SD * step, abs(low) * 1e-6, 1e-300)
    alone = Gap(
        best_step=int(vs[best]),
        best_value=float(vv[best]),
        best_index=int(where[best]),
        points_after_best=vv.size - 1 - best,
        rise=_bounded((last - low) / noise),
        rise_ratio=None if (ratio := least_ratio(last, low, step)) is None else _bounded(ratio),
    )
    # the last evaluation may follow the last logged training loss by up to one logging interval
    if tv.size < 2 or vs[best] > ts[-1] + median(np.diff(ts)):
        return alone
    curve = smooth(tv)
    at_best, at_end = float(np.interp(vs[best], ts, curve)), median(curve[-3:])
    return replace(
        alone,
        **_fall(ts, tv, curve, float(vs[best]), at_best),
        final_ratio=_ratio(last - at_end, at_end),
        best_ratio=_ratio(low - at_best, at_best),
        **_widening(level - np.interp(vs, ts, curve), noise, where),
    )


def _fall(steps: Array, values: Array, curve: Array, best_step: float, at_best: float) -> dict[str, Any]:
    """How far the training loss, smoothed to `curve`, fell since the step at which validation was best."""
    since = int(np.count_nonzero(steps > best_step))
    fall = at_best - median(curve[-min(3, since) :]) if since else 0.0
    error = _error(values, int(np.count_nonzero(steps >= best_step)))
    return {"train_fall": _ratio(fall, at_best), "train_fall_z": _bounded(fall / error)}


def _widening(gaps: Array, noise: float, where: "np.ndarray[tuple[int], np.dtype[np.intp]]") -> dict[str, Any]:
    """How far the smoothed gap ended above its smallest, and from where on it exceeds that by more than the noise."""
    last = int(np.flatnonzero(gaps <= gaps.min() + MIN_WIDENING * noise)[-1])
    onset = int(where[last + 1]) if last + 1 < gaps.size else None
    return {"widening": _bounded((median(gaps[-3:]) - float(gaps.min())) / noise), "onset_index": onset}


def _error(x: Array, count: int) -> float:
    """Standard error of the difference of two levels over `count` points, each from a third of them, with
    autocorrelation.
    """
    rho = lag1(x - smooth(x))
    noise = max(residual_noise(x), ROUNDING_SD * quantum(x), abs(median(x)) * 1e-6, 1e-300)
    return noise * float(np.sqrt((1 + rho) / (1 - rho) * 2 / max(1.0, count / 3)))


def _finite(steps: ArrayLike, values: ArrayLike) -> "tuple[Array, Array, np.ndarray[tuple[int], np.dtype[np.intp]]]":
    """Finite points in order of steps, with their positions in the given array."""
    t, v = as_floats(steps), as_floats(values)
    t, v = t[: v.size], v[: t.size]
    where = np.flatnonzero(np.isfinite(t) & np.isfinite(v))
    where = where[np.argsort(t[where], kind="stable")]
    return t[where], np.clip(v[where], -1e150, 1e150), where


def _last_level(x: Array) -> float:
    """Level of the end: median of the last tenth, or of one to three points in short curves."""
    return median(x[-max(1, min(3, x.size // 5), x.size // 10) :])


def _ratio(part: float, whole: float) -> float | None:
    return _bounded(part / abs(whole)) if whole else None


def _bounded(x: float) -> float:
    return float(np.clip(x, -1e9, 1e9))
