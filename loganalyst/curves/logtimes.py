"""When the run logged: the times of its busiest metric, and the pauses between its rows."""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from loganalyst.model import Curve

MIN_PAUSES = 20  # pauses to see what is usual
LONG_PAUSE = 5.0  # times the expected pause, from which a pause is unusual
MIN_PERIODIC_SHARE = 0.7  # share of distances that must fit one period
HELD_OUT_ROLES = ("val_loss", "val_accuracy", "val_score", "val_error_rate", "val_loss_component")


class Pauses(msgspec.Struct, frozen=True):
    """The n pauses between logged rows of one curve, within sessions, in order.

    `seconds` are their lengths, `ends` the positions in the curve of the rows after them. `expected` are the usual
    lengths: by the steps that a pause covers, or the median of such pauses (evaluations, or others at equal distances).
    """

    curve: Curve
    seconds: NDArray[np.float64]
    ends: NDArray[np.int64]
    expected: NDArray[np.float64]

    @property
    def ratio(self) -> NDArray[np.float64]:
        """Each pause divided by its expected length."""
        return self.seconds / self.expected


def pauses(curves: Sequence[Curve], saved: NDArray[np.float64]) -> Pauses | None:
    """The pauses of the curve with most times; `saved` are the times of checkpoints. None if too few are known."""
    timed = [
        c for c in curves if c.role.name not in (*HELD_OUT_ROLES, "system", "gpu_memory", "gpu_util", "host_memory")
    ]
    curve = _busiest(timed)
    if curve is None:
        return None
    rows = np.flatnonzero(np.isfinite(curve.times))
    times, sessions, steps = curve.times[rows], curve.sessions[rows], curve.steps[rows]
    some = (np.diff(times) > 0) & (np.diff(sessions) == 0)
    seconds, ends = np.diff(times)[some], rows[1:][some]
    if seconds.size < MIN_PAUSES:
        return None
    moved = np.maximum(np.diff(steps)[some], 1)
    expected = np.maximum(np.median(seconds / moved) * moved, np.median(seconds))
    others = [c.times[np.isfinite(c.times)] for c in curves if c.role.name in HELD_OUT_ROLES]
    known = np.sort(np.concatenate([saved, *others]))
    begins = times[:-1][some]
    interrupted = np.searchsorted(known, begins + seconds, "right") > np.searchsorted(known, begins, "right")
    expected = _at_least_median(expected, seconds, interrupted & (seconds > LONG_PAUSE * expected))
    left = (seconds > LONG_PAUSE * expected) & ~interrupted
    if is_periodic(steps[1:][some][left]):
        expected = _at_least_median(expected, seconds, left)
    return Pauses(curve, seconds, ends, expected)


def _busiest(curves: Sequence[Curve]) -> Curve | None:
    """The curve with most distinct times, if there are more than MIN_PAUSES."""
    found, most = None, MIN_PAUSES
    for curve in sorted(curves, key=lambda c: -c.times.size):
        if curve.times.size <= most:  # all other curves are too short
            break
        count = np.unique(curve.times[np.isfinite(curve.times)]).size
        found, most = (curve, count) if count > most else (found, most)
    return found


def _at_least_median(
    expected: NDArray[np.float64], seconds: NDArray[np.float64], chosen: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """The expected lengths, of the chosen pauses at least their median."""
    usual = np.median(seconds[chosen]) if chosen.any() else 0.0
    return np.where(chosen, np.maximum(expected, usual), expected)


def is_periodic(steps: NDArray[np.int64]) -> bool:
    """Whether pauses at these steps recur: most distances are one, two or three times the same period."""
    if steps.size < 3:
        return False
    distances = np.diff(steps)
    period = np.median(distances)
    times = distances / period if period > 0 else np.zeros(distances.size)
    near = np.abs(times - np.round(times)) < 0.15
    return bool(np.mean(near & (np.round(times) >= 1) & (np.round(times) <= 3)) >= MIN_PERIODIC_SHARE)
