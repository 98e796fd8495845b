"""A common step axis for curves with different counters, such as a held-out loss by epoch and a
training loss by step.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from loganalyst.model import Curve

Steps = NDArray[np.float64]
MIN_COUNTER_RATIO = 3.0  # ratio of two last steps from which the counters count different things
MIN_POINTS = 3  # points to see what a curve counts


def common_axis(one: Curve, other: Curve, counters: Sequence[Curve]) -> tuple[Steps, Steps]:
    """The steps of both curves on the finer of their two axes; as logged if both count the same.

    A curve that counts evaluations or epochs (0, 1, 2, … while the other goes at least three times as far) is placed by
    the first of these that is known: the epochs of both, the times of both, a logged counter of epochs. Otherwise its
    points are spread evenly up to the end of the other curve.
    """
    a, b = one.steps.astype(float), other.steps.astype(float)
    if counts_epochs(one, other):
        return _steps_on_axis(one, other, counters), b
    if counts_epochs(other, one):
        return a, _steps_on_axis(other, one, counters)
    return a, b


def counts_epochs(coarse: Curve, fine: Curve) -> bool:
    """Whether `coarse` counts 0, 1, 2, … and `fine` goes much further."""
    if len(coarse.steps) < MIN_POINTS or len(fine.steps) < MIN_POINTS:
        return False
    unit_steps = bool((np.diff(coarse.steps) == 1).mean() > 0.9) and int(coarse.steps[0]) in (0, 1)
    return unit_steps and float(fine.steps[-1]) >= MIN_COUNTER_RATIO * max(float(coarse.steps[-1]), 1.0)


def _steps_on_axis(coarse: Curve, fine: Curve, counters: Sequence[Curve]) -> Steps:
    """The points of `coarse` on the axis of `fine`."""
    for coarse_places, fine_places in ((coarse.epochs, fine.epochs), (coarse.times, fine.times)):
        if (
            np.isfinite(coarse_places).all()
            and np.isfinite(fine_places).all()
            and np.all(np.diff(fine_places) >= 0)
            and fine_places[-1] > fine_places[0]
        ):
            return np.interp(coarse_places, fine_places, fine.steps)
    same = [c for c in counters if not counts_epochs(c, fine) and len(c.values) >= MIN_POINTS]
    ends = _ends_of_counts(same[0]) if same else np.empty(0)
    number = coarse.steps - coarse.steps[0]
    if ends.size >= len(number) - 1:
        return np.asarray(np.append(ends, fine.steps[-1])[number], dtype=float)
    return np.asarray((number + 1) / len(number) * float(fine.steps[-1]), dtype=float)


def epoch_ends(curves: Sequence[Curve], counters: Sequence[Curve]) -> Steps:
    """The steps at which epochs end, from the epochs of the points or from a counter; empty if there is neither."""
    for curve in curves:
        whole = np.floor(curve.epochs + 1e-6)
        if np.isfinite(whole).all() and len(whole) and whole[-1] - whole[0] >= 2:
            return _last_steps(curve.steps, whole)
    return next((e for c in counters if (e := _ends_of_counts(c)).size >= 2), np.empty(0))


def steps_per_epoch(curve: Curve, counters: Sequence[Curve]) -> float | None:
    """The steps per epoch, by the epochs of the curve's points or by a counter; None if neither is known."""
    ends = epoch_ends([curve], counters)
    if ends.size >= MIN_POINTS:
        return float(np.median(np.diff(ends)))
    pairs = [(curve.steps, curve.epochs), *((c.steps, c.values) for c in counters if len(c.steps))]
    for steps, epochs in pairs:
        if len(steps) and np.isfinite(epochs[[0, -1]]).all() and epochs[-1] - epochs[0] > 0 and steps[-1] > steps[0]:
            return float(steps[-1] - steps[0]) / float(epochs[-1] - epochs[0])
    return None


def _ends_of_counts(counter: Curve) -> Steps:
    return _last_steps(counter.steps, np.floor(counter.values + 1e-6))


def _last_steps(steps: NDArray[np.int64], count: Steps) -> Steps:
    """The last step of each count except the last; empty if the count grows with almost every point
    and so is no epoch.
    """
    grown = np.flatnonzero(np.diff(count) >= 1)
    return steps[grown].astype(float) if grown.size < 0.9 * (len(steps) - 1) else np.empty(0)
