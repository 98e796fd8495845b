"""The curves of the last training, if one program trained several times."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from loganalyst.curves.metricnames import names_held_out, names_split
from loganalyst.curves.taskstages import of_stages
from loganalyst.model import Curve

_LEVEL_POINTS = 3  # points of a level on one side of a possible start of a training
_MIN_RETURN = 0.5  # share of the fall so far by which the loss must rise where a training starts over


def last_training(found: list[Curve]) -> list[Curve]:
    """The curves from the start of the last training, if one program trained several times.

    Where a training starts, the epochs (or, without epochs, the steps) count from the first again, and a loss or a
    score of the training data returns most of the way to its first value. If that is so once, and all count the same
    epochs, each count is a training. Stages of one training (`curves.taskstages`) are all of it.
    """
    if (stages := of_stages(found)) is not None:
        return stages
    starts = [start for c in found if _shows_starts(c) and (start := _last_training_start(c)) is not None]
    return [_from_start(c, max(starts)) for c in found] if starts else found


def _shows_starts(curve: Curve) -> bool:
    """Whether the metric is a loss or a reward, or another one of the training data, such as `train's auc`."""
    of_training = names_split(curve.metric) and not names_held_out(curve.metric)
    return curve.role.name in ("train_loss", "val_loss", "reward") or (
        curve.role.name in ("other", "train_accuracy") and of_training
    )


class _Start(NamedTuple):
    """The start of a training: session and step of its first loss, its line (-1: not known) and its file."""

    session: int
    step: int
    line: int
    source: str | None


def _last_training_start(loss: Curve) -> _Start | None:
    """The last start of a training that this loss (or score) shows."""
    counted = loss.epochs if np.isfinite(loss.epochs).any() else loss.steps.astype(float)
    known = np.flatnonzero(np.isfinite(loss.values) & np.isfinite(counted))
    x, epochs, sessions = loss.values[known], counted[known], loss.sessions[known]
    if "loss" not in loss.role.name:
        x = -x  # scores rise
    back = np.flatnonzero((np.diff(epochs) < 0) & (np.diff(sessions) == 0)) + 1
    starts = [k for k in back.tolist() if epochs[k] <= epochs[0] and _starts_over(x, k)]
    if not starts:
        return None
    # A table may hold one training after another, of as many epochs each, and some begin below the end of the last one.
    each = np.split(epochs, back)
    at = known[int(back[-1]) if all(np.array_equal(part, each[0]) for part in each) else starts[-1]]
    return _Start(int(loss.sessions[at]), int(loss.steps[at]), int(loss.lines[at]), loss.source)


def _starts_over(x: NDArray[np.float64], k: int) -> bool:
    """Whether the loss `x` returns most of the way to its first value at position `k`."""
    if min(k, x.size - k) < _LEVEL_POINTS:
        return False
    stretches = (x[: min(_LEVEL_POINTS, k - _LEVEL_POINTS) or 1], x[k - _LEVEL_POINTS : k], x[k : k + _LEVEL_POINTS])
    first, before, after = (float(np.median(stretch)) for stretch in stretches)
    return first > before and after - before > _MIN_RETURN * (first - before)


def _from_start(curve: Curve, start: _Start) -> Curve:
    """The curve from the start on. In the same file, lines decide, because held-out values may carry the step of the
    previous training.
    """
    if start.line >= 0 and curve.source == start.source and (curve.lines >= 0).all():
        later = curve.lines >= start.line
    else:
        later = curve.steps >= start.step
    kept = (curve.sessions > start.session) | ((curve.sessions == start.session) & later)
    arrays = ("steps", "values", "times", "epochs", "sessions", "lines")
    return replace(curve, **{name: getattr(curve, name)[kept] for name in arrays})
