"""Steps and epochs on one axis, for a held-out loss by epoch beside a training loss by step."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from loganalyst.model import Curve

Steps = NDArray[np.float64]
FAR = 3.0  # a counter that goes this many times as far counts something else
FEWEST = 3  # points that tell what a curve counts


def common(one: Curve, other: Curve, counters: Sequence[Curve]) -> tuple[Steps, Steps]:
    """The steps of both curves on the finer of their two axes; as logged where both count the same.

    One that counts evaluations or epochs (0, 1, 2, … while the other goes three times as far or more) is placed by the
    epochs both logged, else by their times, else by a logged counter of epochs, else evenly up to the other's end.
    """
    a, b = one.steps.astype(float), other.steps.astype(float)
    if counts_epochs(one, other):
        return _placed(one, other, counters), b
    if counts_epochs(other, one):
        return a, _placed(other, one, counters)
    return a, b


def counts_epochs(coarse: Curve, fine: Curve) -> bool:
    """Whether `coarse` is logged at 0, 1, 2, … and `fine` goes much further."""
    if len(coarse.steps) < FEWEST or len(fine.steps) < FEWEST:
        return False
    ones = bool((np.diff(coarse.steps) == 1).mean() > 0.9) and int(coarse.steps[0]) in (0, 1)
    return ones and float(fine.steps[-1]) >= FAR * max(float(coarse.steps[-1]), 1.0)


def _placed(coarse: Curve, fine: Curve, counters: Sequence[Curve]) -> Steps:
    """The points of `coarse` on the axis of `fine`."""
    for here, there in ((coarse.epochs, fine.epochs), (coarse.times, fine.times)):
        if (
            np.isfinite(here).all()
            and np.isfinite(there).all()
            and np.all(np.diff(there) >= 0)
            and there[-1] > there[0]
        ):
            return np.interp(here, there, fine.steps)
    same = [c for c in counters if not counts_epochs(c, fine) and len(c.values) >= FEWEST]
    ends = _count_ends(same[0]) if same else np.empty(0)
    number = coarse.steps - coarse.steps[0]
    if ends.size >= len(number) - 1:
        return np.asarray(np.append(ends, fine.steps[-1])[number], dtype=float)
    return np.asarray((number + 1) / len(number) * float(fine.steps[-1]), dtype=float)


def epoch_ends(curves: Sequence[Curve], counters: Sequence[Curve]) -> Steps:
    """The steps at which epochs end, from the epochs of the points or from a counter; empty if there is neither."""
    for curve in curves:
        whole = np.floor(curve.epochs + 1e-6)
        if np.isfinite(whole).all() and len(whole) and whole[-1] - whole[0] >= 2:
            return _where_it_grows(curve.steps, whole)
    return next((e for c in counters if (e := _count_ends(c)).size >= 2), np.empty(0))


def steps_per_epoch(curve: Curve, counters: Sequence[Curve]) -> float | None:
    """How many steps an epoch has, by the epochs of the curve's points or by a counter; None if neither tells."""
    ends = epoch_ends([curve], counters)
    if ends.size >= FEWEST:
        return float(np.median(np.diff(ends)))
    pairs = [(curve.steps, curve.epochs), *((c.steps, c.values) for c in counters if len(c.steps))]
    for steps, epochs in pairs:
        if len(steps) and np.isfinite(epochs[[0, -1]]).all() and epochs[-1] - epochs[0] > 0 and steps[-1] > steps[0]:
            return float(steps[-1] - steps[0]) / float(epochs[-1] - epochs[0])
    return None


def _count_ends(counter: Curve) -> Steps:
    return _where_it_grows(counter.steps, np.floor(counter.values + 1e-6))


def _where_it_grows(steps: NDArray[np.int64], count: Steps) -> Steps:
    """The last step of each count but the last; empty where it grows with every point, which tells nothing."""
    grown = np.flatnonzero(np.diff(count) >= 1)
    return steps[grown].astype(float) if grown.size < 0.9 * (len(steps) - 1) else np.empty(0)
