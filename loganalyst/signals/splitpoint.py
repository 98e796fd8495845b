"""Where two curves of one metric part: the first step from which they stay apart by more than their noise."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from loganalyst.signals.preparedcurve import even
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

FEWEST = 5  # steps both must have logged
BLOCKS = 400  # the differences are looked at in at most about this many medians
SHORTEST, SHARE = 3, 0.05  # medians, and share of all of them, over which they must be apart
REACH = 5.0  # standard errors of the mean of those
FEW = 8.0  # points at which it is twice that, for noise that few points tell is not well known
OUTLIER = 4.0  # noise multiples at which single differences are cut off
LARGEST = 1e9  # effects are clipped here (curves without any noise)
SMALLEST = 1e-3  # of the logarithm, or of the curves' bulk: less is how other hardware rounds


@dataclass(frozen=True)
class Parting:
    """`index` of the point of the first curve from which on it is apart, `sign` +1 where it is above the other, 0 where
    one of them is no finite number; `effect` the distance in standard errors. `final` is the point from which on they
    are apart to the end (None: they are together again), `final_sign` the sign there. `ours`, `theirs` are the levels
    at the end, `equal` the last point up to which all values are the same (None: fewer than 3 are).

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
    """Compare two curves at their common steps (the sparser one's, where few are common).

    n and m steps that do not fall, values as many of any kind. None where they stay together, or where fewer than 5
    steps can be compared. The same for a·values of both with a > 0.

    >>> import numpy as np
    >>> from loganalyst import signals
    >>> steps, noise = np.arange(400), 0.01 * np.random.default_rng(0).normal(size=(2, 400))
    >>> found = signals.parting(steps, 1 + noise[0] + (steps >= 200), steps, 1 + noise[1])
    >>> found.sign, abs(found.index - 200) < 20
    (1, True)
    """
    where, a, b = paired(as_floats(steps), as_floats(values), as_floats(other_steps), as_floats(other_values))
    if where.size < FEWEST:
        return None
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    alike = int(np.argmin(same))  # how many first values are the same
    equal = int(where[alike - 1]) if alike >= SHORTEST else None
    broken = np.flatnonzero(np.isfinite(a) != np.isfinite(b))
    end = int(broken[0]) if broken.size else a.size
    fine = np.flatnonzero(np.isfinite(a[:end]) & np.isfinite(b[:end]))
    found = _apart(a[fine], b[fine]) if fine.size >= FEWEST else None
    if found is None and end == a.size:
        return None
    ends = bool(np.isfinite(a[-1]) != np.isfinite(b[-1]))
    if found is None:
        gone = int(where[end])
        return Parting(gone, 0, float("inf"), gone if ends else None, 0, _end(a), _end(b), equal)
    first, sign, effect, final, final_sign = found
    last = where[end] if ends else None if final is None else where[fine[final]]
    place = int(where[fine[first]]), sign, effect, None if last is None else int(last), 0 if ends else final_sign
    return Parting(*place, _end(a), _end(b), equal)


def _end(x: Array) -> float:
    """The level at the end: NaN or an infinity where the curve ends in one, else a median of its last values."""
    tail = x[-max(SHORTEST, x.size // 20) :]
    return median(tail[np.isfinite(tail)]) if np.isfinite(x[-1]) else float(x[-1])


def paired(s: Array, a: Array, t: Array, b: Array) -> tuple[NDArray[np.intp], Array, Array]:
    """Values of both at the same steps, and where these are in the first curve. Of a step logged twice the last."""
    where, there = _last(s), _last(t)
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


def _last(steps: Array) -> NDArray[np.intp]:
    """Positions of the last of equal steps."""
    return np.flatnonzero(np.append(steps[1:] != steps[:-1], True)) if steps.size else np.arange(0)


def _at_or_before(steps: Array, wanted: Array) -> NDArray[np.intp]:
    return np.maximum(np.searchsorted(steps, wanted, side="right") - 1, 0)


def _apart(a: Array, b: Array) -> tuple[int, int, float, int | None, int] | None:
    """(first point, sign, effect, point from which on to the end, sign) of two finite curves of n points."""
    both = even(np.concatenate((a, b)))[0]
    away = both[: a.size] - both[a.size :]
    size = max(1, -(-away.size // BLOCKS))
    level = _cut_off(blocks(away, size))
    noise = _noise(level)
    shortest = min(max(SHORTEST, round(SHARE * level.size)), level.size)
    reach = REACH * (1 + FEW / level.size)
    windows = _windows(level, noise, shortest, reach)
    if not windows:
        return None
    end, start, z = min(windows)
    sign = int(np.sign(z))
    at = _first(sign * away, start * size, min(end * size, away.size))
    tail = _z(level[-shortest:], noise)
    to_end = int(np.sign(tail)) if abs(tail) > reach / 2 else 0
    back = _back(to_end * level, noise, shortest, reach) if to_end else None
    if back is None or (to_end == sign and back < end):
        return at, sign, min(abs(z), LARGEST), None if back is None else at, to_end
    again = _first(to_end * away, back * size, min((back + 2 * shortest) * size, away.size))
    return at, sign, min(abs(z), LARGEST), again, to_end


def _back(level: Array, noise: float, shortest: int, reach: float) -> int:
    """The block from which on no window of the shortest length falls below half of reach."""
    sums = np.append(0.0, np.cumsum(level))
    z = (sums[shortest:] - sums[:-shortest]) / float(np.sqrt(shortest)) / noise
    below = np.flatnonzero(z < reach / 2)
    return int(below[-1]) + 1 if below.size else 0


def _cut_off(level: Array) -> Array:
    """The differences without what single ones stand out from their neighbours."""
    middle, limit = running_median(level, 3), OUTLIER * residual_noise(level)
    return middle + np.clip(level - middle, -limit, limit)


def _noise(level: Array) -> float:
    """Robust sd of one difference as it counts in a mean: persistence makes means of many err more."""
    rest = level - running_median(level, 5)
    rho = lag1(rest)
    return max(long_run(level), residual_noise(level) * float(np.sqrt((1 + rho) / (1 - rho))), TINY)


def _z(level: Array, noise: float) -> float:
    """The mean in standard errors; 0 where it is too small to count."""
    mean = float(np.mean(level))
    return mean * float(np.sqrt(level.size)) / noise if abs(mean) > SMALLEST else 0.0


def _windows(level: Array, noise: float, shortest: int, reach: float) -> list[tuple[int, int, float]]:
    """(end, start, z) of the earliest window of each length whose mean is beyond reach."""
    sums = np.append(0.0, np.cumsum(level))
    found: list[tuple[int, int, float]] = []
    width = shortest
    while width <= level.size:
        mean = (sums[width:] - sums[:-width]) / width
        z = np.where(np.abs(mean) > SMALLEST, mean * np.sqrt(width) / noise, 0.0)
        hits = np.flatnonzero(np.abs(z) > reach)
        if hits.size:
            found.append((int(hits[0]) + width, int(hits[0]), float(z[hits[0]])))
        width *= 2
    return found


def _first(away: Array, low: int, high: int) -> int:
    """The point in [low, high) that best divides differences around 0 from those at the level of its end; before it the
    first of those that stand out of the noise of points without a gap.
    """
    few = max((high - low) // 4, 1)
    gain = away[low:high] - median(away[high - few : high]) / 2
    at = high - 1 - int(np.argmax(np.cumsum(gain[::-1])))
    inside = np.flatnonzero(away[low:at] <= max(OUTLIER * residual_noise(away), SMALLEST))
    return low + (int(inside[-1]) + 1 if inside.size else 0)
