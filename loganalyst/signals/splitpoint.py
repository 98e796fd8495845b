"""The split of two curves of one metric: the first step from which they differ by more than their noise."""

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from loganalyst.signals.preparedcurve import even_noise, on_scale
from loganalyst.signals.quantum import ROUNDING_SD, quantum
from loganalyst.signals.robuststatistics import (
    TINY,
    Array,
    as_floats,
    blocks,
    lag1,
    long_run,
    median,
    residual_noise,
    running_median,
)

MIN_COMMON_STEPS = 5  # steps that both must have logged
MAX_BLOCKS = 400  # medians of the differences, about
MIN_WINDOW, MIN_WINDOW_SHARE = 3, 0.05  # medians, and share of all medians, that must differ
MIN_SCORE = 5.0  # standard errors of the mean of a window
SMALL_SAMPLE = 8.0  # medians at which the limit doubles, because few points estimate the noise poorly
OUTLIER_LIMIT = 4.0  # noise units at which single differences are clipped
MAX_EFFECT = 1e9  # effects are clipped here (curves without any noise)
MIN_DIFFERENCE = 1e-3  # of the logarithm, or of the curves' bulk: smaller differences come from other hardware
MIN_DIFFERENCE_IN_STEPS = 1.2  # units of the quantum: rounding alone keeps two curves one unit apart


class Parting(msgspec.Struct, frozen=True):
    """Where two curves split. Positions are points of the first curve.

    - `index`: first point at which it differs; `sign`: +1 if it is above the other, 0 if one of them is not finite;
      `effect`: the distance in standard errors.
    - `final`: point from which they differ to the end (None: they met again); `final_sign`: the sign there.
    - `ours`, `theirs`: the levels at the end; `equal`: last point up to which all values are the same (None: fewer than
      3).

    >>> import numpy as np
    >>> from loganalyst import signals
    >>> steps = np.arange(100)
    >>> signals.parting(steps, 2 - steps / 200, steps, np.ones(100)).sign
    1
    """

    index: int
    sign: int
    effect: float
    final: int | None
    final_sign: int
    ours: float
    theirs: float
    equal: int | None


def parting(steps: ArrayLike, values: ArrayLike, other_steps: ArrayLike, other_values: ArrayLike) -> Parting | None:
    """Compare two curves at their common steps, or at the steps of the sparser one if few are common.

    Takes n and m steps that do not fall, with as many values of any kind. Returns None if the curves stay together, or
    if fewer than 5 steps can be compared. The result is the same for a·values of both with a > 0.

    >>> import numpy as np
    >>> from loganalyst import signals
    >>> steps, noise = np.arange(400), 0.01 * np.random.default_rng(0).normal(size=(2, 400))
    >>> found = signals.parting(steps, 1 + noise[0] + (steps >= 200), steps, 1 + noise[1])
    >>> found.sign, abs(found.index - 200) < 20
    (1, True)
    """
    where, a, b = paired(as_floats(steps), as_floats(values), as_floats(other_steps), as_floats(other_values))
    if where.size < MIN_COMMON_STEPS:
        return None
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    alike = int(np.argmin(same))  # number of equal values at the start
    equal = int(where[alike - 1]) if alike >= MIN_WINDOW else None
    broken = np.flatnonzero(np.isfinite(a) != np.isfinite(b))
    end = int(broken[0]) if broken.size else a.size
    fine = np.flatnonzero(np.isfinite(a[:end]) & np.isfinite(b[:end]))
    found = _split(a[fine], b[fine]) if fine.size >= MIN_COMMON_STEPS else None
    if found is None and end == a.size:
        return None
    ends = bool(np.isfinite(a[-1]) != np.isfinite(b[-1]))
    if found is None:
        gone = int(where[end])
        return Parting(gone, 0, float("inf"), gone if ends else None, 0, _final_level(a), _final_level(b), equal)
    first, sign, effect, final, final_sign = found
    last = where[end] if ends else None if final is None else where[fine[final]]
    place = int(where[fine[first]]), sign, effect, None if last is None else int(last), 0 if ends else final_sign
    return Parting(*place, _final_level(a), _final_level(b), equal)


def _final_level(x: Array) -> float:
    """The level at the end: NaN or an infinity if the curve ends in one, otherwise a median of its last values."""
    tail = x[-max(MIN_WINDOW, x.size // 20) :]
    return median(tail[np.isfinite(tail)]) if np.isfinite(x[-1]) else float(x[-1])


def paired(s: Array, a: Array, t: Array, b: Array) -> tuple[NDArray[np.intp], Array, Array]:
    """Values of both at the same steps, and their positions in the first curve. Of a step logged twice, the last value
    counts.
    """
    where, there = _last_of_equal(s), _last_of_equal(t)
    s, t = s[where], t[there]
    _, i, j = np.intersect1d(s, t, assume_unique=True, return_indices=True)
    low, high = (max(s[0], t[0]), min(s[-1], t[-1])) if s.size and t.size else (1.0, 0.0)
    ours, theirs = (s >= low) & (s <= high), (t >= low) & (t <= high)
    if 2 * i.size >= min(ours.sum(), theirs.sum()):
        return where[i], a[where[i]], b[there[j]]
    if ours.sum() <= theirs.sum():
        return where[ours], a[where[ours]], b[there[_at_or_before(t, s[ours])]]
    near = where[_at_or_before(s, t[theirs])]
    return near, a[near], b[there[theirs]]


def _last_of_equal(steps: Array) -> NDArray[np.intp]:
    """Positions of the last of equal steps."""
    return np.flatnonzero(np.append(steps[1:] != steps[:-1], True)) if steps.size else np.arange(0)


def _at_or_before(steps: Array, wanted: Array) -> NDArray[np.intp]:
    """Positions of the last of `steps` at or before each wanted step."""
    return np.maximum(np.searchsorted(steps, wanted, side="right") - 1, 0)


def _split(a: Array, b: Array) -> tuple[int, int, float, int | None, int] | None:
    """(first point, sign, effect, point from which they differ to the end, sign there) of two finite curves of n
    points.
    """
    both, unit = even_noise(np.concatenate((a, b)))
    step = median(on_scale(max(quantum(a), quantum(b)), both, unit))
    least = max(MIN_DIFFERENCE, MIN_DIFFERENCE_IN_STEPS * step)
    away = both[: a.size] - both[a.size :]
    size = max(1, -(-away.size // MAX_BLOCKS))
    level = _without_outliers(blocks(away, size))
    noise = max(_noise(level), ROUNDING_SD * step)
    shortest = min(max(MIN_WINDOW, round(MIN_WINDOW_SHARE * level.size)), level.size)
    min_score = MIN_SCORE * (1 + SMALL_SAMPLE / level.size)
    windows = _windows(level, noise, least, shortest, min_score)
    if not windows:
        return None
    end, start, z = min(windows)
    sign = int(np.sign(z))
    at = _first_point(sign * away, start * size, min(end * size, away.size))
    tail = _score(level[-shortest:], noise, least)
    to_end = int(np.sign(tail)) if abs(tail) > min_score / 2 else 0
    back = _apart_from_block(to_end * level, noise, shortest, min_score) if to_end else None
    if back is None or (to_end == sign and back < end):
        return at, sign, min(abs(z), MAX_EFFECT), None if back is None else at, to_end
    again = _first_point(to_end * away, back * size, min((back + 2 * shortest) * size, away.size))
    return at, sign, min(abs(z), MAX_EFFECT), again, to_end


def _apart_from_block(level: Array, noise: float, shortest: int, min_score: float) -> int:
    """The block from which no window of the shortest length has a score below half of `min_score`."""
    sums = np.append(0.0, np.cumsum(level))
    z = (sums[shortest:] - sums[:-shortest]) / float(np.sqrt(shortest)) / noise
    below = np.flatnonzero(z < min_score / 2)
    return int(below[-1]) + 1 if below.size else 0


def _without_outliers(level: Array) -> Array:
    """The differences, with single deviations from their neighbours clipped."""
    middle, limit = running_median(level, 3), OUTLIER_LIMIT * residual_noise(level)
    return middle + np.clip(level - middle, -limit, limit)


def _noise(level: Array) -> float:
    """Robust sd of one difference as it counts in a mean: autocorrelation makes means vary more."""
    residuals = level - running_median(level, 5)
    rho = lag1(residuals)
    return max(long_run(level), residual_noise(level) * float(np.sqrt((1 + rho) / (1 - rho))), TINY)


def _score(level: Array, noise: float, least: float) -> float:
    """The mean in standard errors; 0 if it is too small to count."""
    mean = float(np.mean(level))
    return mean * float(np.sqrt(level.size)) / noise if abs(mean) > least else 0.0


def _windows(level: Array, noise: float, least: float, shortest: int, min_score: float) -> list[tuple[int, int, float]]:
    """(end, start, z) of the earliest window of each length with a mean beyond `min_score` and above `least`."""
    sums = np.append(0.0, np.cumsum(level))
    found: list[tuple[int, int, float]] = []
    width = shortest
    while width <= level.size:
        mean = (sums[width:] - sums[:-width]) / width
        z = np.where(np.abs(mean) > least, mean * np.sqrt(width) / noise, 0.0)
        hits = np.flatnonzero(np.abs(z) > min_score)
        if hits.size:
            found.append((int(hits[0]) + width, int(hits[0]), float(z[hits[0]])))
        width *= 2
    return found


def _first_point(away: Array, low: int, high: int) -> int:
    """The point in [low, high) that best divides differences near 0 from those at the final level.

    If the differences just before it already exceed the noise without a gap, the first of these.
    """
    few = max((high - low) // 4, 1)
    gain = away[low:high] - median(away[high - few : high]) / 2
    at = high - 1 - int(np.argmax(np.cumsum(gain[::-1])))
    inside = np.flatnonzero(away[low:at] <= max(OUTLIER_LIMIT * residual_noise(away), MIN_DIFFERENCE))
    return low + (int(inside[-1]) + 1 if inside.size else 0)
