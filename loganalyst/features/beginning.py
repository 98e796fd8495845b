"""Whether the log covers the beginning of a curve. Where it starts in the middle of a run, the total fall or gain is
not known.
"""

import numpy as np
import polars as pl

from loganalyst.features.context import Computed, Context
from loganalyst.model import Curve
from loganalyst.patterntraits import having
from loganalyst.thresholds import feature_limit

MIN_POINTS = 3  # points for a logging interval
MAX_EPOCH_INTERVALS = 3  # logging intervals from a whole epoch up to which a curve starts at it


def begins_late(curve: Curve) -> bool:
    """Whether most of the steps or epochs had passed before the first value, allowing one logging interval."""
    if len(curve.steps) < MIN_POINTS:
        return False
    interval = float(np.median(np.diff(curve.steps)))
    late = _share_before(curve.steps[0] - interval, curve.steps[-1]) > feature_limit("log_starts_late")
    epochs = curve.epochs[np.isfinite(curve.epochs)]
    if not epochs.size:
        return late
    interval = float(np.median(np.diff(epochs))) if epochs.size > 1 else 0.0
    if epochs[0] % 1 > MAX_EPOCH_INTERVALS * interval > 0:  # starts within an epoch: fractions count from 0
        return _share_before(epochs[0] - interval, epochs[-1]) > feature_limit("log_starts_late")
    if epochs[0] < 2 <= epochs[-1]:  # a first epoch is a beginning, whatever the step counter shows
        return False
    return late or _share_before(np.floor(epochs[0]) - 1, epochs[-1]) > feature_limit("log_starts_late")


def is_continued(context: Context, curve: Curve) -> bool:
    """Whether a log says before the first value that the training continues from a checkpoint."""
    said = context.run.lines.filter(
        pl.col("pattern").is_in(having("continued")), pl.col("session") == int(curve.sessions[0])
    )
    before = pl.col("line") < int(curve.lines[0])
    if curve.source is not None:  # else its file may be any
        before |= pl.col("file") != curve.source
    return said.filter(before).height > 0


def unless_late(curve: Curve, values: Computed) -> Computed:
    """Features that compare with the beginning of the curve; None where the beginning was not logged."""
    return dict.fromkeys(values) if begins_late(curve) else values


def _share_before(before: float, last: float) -> float:
    return float(before / last) if last > 0 else 0.0
