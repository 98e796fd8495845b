"""When the run logged: the times of its busiest metric, and the pauses between them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loganalyst.model import Curve

FEWEST = 20  # pauses between which an unusual one can be told
LONG = 5.0  # times the usual pause, so that a pause is looked at at all
REGULAR = 0.7  # share of distances that must fit one period
HELD_OUT = ("val_loss", "val_accuracy", "val_score", "val_error_rate", "val_loss_component")


@dataclass(frozen=True)
class Pauses:
    """The n pauses between logged rows of one curve, within sessions, in order.

    `seconds` each, `ends` the position in the curve of the row after it, `expected` how long it should have been: by
    the steps it covers, or as long as such pauses (evaluations, or others at equal distances) usually are.
    """

    curve: Curve
    seconds: NDArray[np.float64]
    ends: NDArray[np.int64]
    expected: NDArray[np.float64]

    @property
    def ratio(self) -> NDArray[np.float64]:
        """Each pause against its expected length."""
        return self.seconds / self.expected


def pauses(curves: Sequence[Curve], saved: NDArray[np.float64]) -> Pauses | None:
    """The pauses of the curve with most times; `saved` are the times of checkpoints. None where too few are known."""
    timed = [c for c in curves if c.role.name not in (*HELD_OUT, "system", "gpu_memory", "gpu_util", "host_memory")]
    curve = _busiest(timed)
    if curve is None:
        return None
    rows = np.flatnonzero(np.isfinite(curve.times))
    times, sessions, steps = curve.times[rows], curve.sessions[rows], curve.steps[rows]
    some = (np.diff(times) > 0) & (np.diff(sessions) == 0)
    seconds, ends = np.diff(times)[some], rows[1:][some]
    if seconds.size < FEWEST:
        return None
    moved = np.maximum(np.diff(steps)[some], 1)
    expected = np.maximum(np.median(seconds / moved) * moved, np.median(seconds))
    others = [c.times[np.isfinite(c.times)] for c in curves if c.role.name in HELD_OUT]
    known = np.sort(np.concatenate([saved, *others]))
    begins = times[:-1][some]
    interrupted = np.searchsorted(known, begins + seconds, "right") > np.searchsorted(known, begins, "right")
    expected = _usual(expected, seconds, interrupted & (seconds > LONG * expected))
    left = (seconds > LONG * expected) & ~interrupted
    if _regular(steps[1:][some][left]):
        expected = _usual(expected, seconds, left)
    return Pauses(curve, seconds, ends, expected)


def _busiest(curves: Sequence[Curve]) -> Curve | None:
    """The curve with most times, more than FEWEST; those with fewer rows than it has times are not looked at."""
    found, most = None, FEWEST
    for curve in sorted(curves, key=lambda c: -c.times.size):
        if curve.times.size <= most:
            break
        count = np.unique(curve.times[np.isfinite(curve.times)]).size
        found, most = (curve, count) if count > most else (found, most)
    return found


def _usual(
    expected: NDArray[np.float64], seconds: NDArray[np.float64], chosen: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """What is expected, where the chosen pauses are as long as their median."""
    usual = np.median(seconds[chosen]) if chosen.any() else 0.0
    return np.where(chosen, np.maximum(expected, usual), expected)


def _regular(steps: NDArray[np.int64]) -> bool:
    """Whether pauses at these steps recur: most distances are one, two or three of the same period."""
    if steps.size < 3:
        return False
    apart = np.diff(steps)
    period = np.median(apart)
    times = apart / period if period > 0 else np.zeros(apart.size)
    near = np.abs(times - np.round(times)) < 0.15
    return bool(np.mean(near & (np.round(times) >= 1) & (np.round(times) <= 3)) >= REGULAR)
