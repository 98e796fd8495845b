"""Whether the beginning of a curve was logged: of a part from the middle of a run, what it fell or gained is not known."""

import numpy as np

from loganalyst.features.context import Computed
from loganalyst.model import Curve
from loganalyst.thresholds import feature_limit

FEWEST = 3  # points that tell how often is logged


def begins_late(curve: Curve) -> bool:
    """Whether most of the steps, or of the epochs, had passed before the first value, and one interval of logging."""
    if len(curve.steps) < FEWEST:
        return False
    interval = float(np.median(np.diff(curve.steps)))
    late = _passed(curve.steps[0] - interval, curve.steps[-1]) > feature_limit("log_starts_late")
    epochs = curve.epochs[np.isfinite(curve.epochs)]
    if not epochs.size:
        return late
    interval = float(np.median(np.diff(epochs))) if epochs.size > 1 else 0.0
    if epochs[0] % 1 > FEWEST * interval > 0:  # in the middle of an epoch: parts of them are counted from 0
        return _passed(epochs[0] - interval, epochs[-1]) > feature_limit("log_starts_late")
    if epochs[0] < 2 <= epochs[-1]:  # whatever was counted in steps before
        return False
    return late or _passed(np.floor(epochs[0]) - 1, epochs[-1]) > feature_limit("log_starts_late")


def unless_late(curve: Curve, told: Computed) -> Computed:
    """What is told against the beginning of a curve; not known where that was not logged."""
    return dict.fromkeys(told) if begins_late(curve) else told


def _passed(before: float, last: float) -> float:
    return float(before / last) if last > 0 else 0.0
