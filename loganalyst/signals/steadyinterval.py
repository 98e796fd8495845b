"""Whether events come at a steady interval."""

import numpy as np
from numpy.typing import NDArray

from loganalyst.signals.robuststatistics import as_floats, median

FEWEST = 4  # events
JITTER = 0.1  # distance of a gap from a multiple of the period, as a share of the period
SHARE = 0.7  # of the gaps that must be near the period or a multiple of it


def rhythm(at: NDArray[np.intp]) -> tuple[float, NDArray[np.bool_]] | None:
    """The period of events at sorted places `at`, and which of the gaps between them keep to it; None without one."""
    if at.size < FEWEST:
        return None
    gaps = as_floats(np.diff(at))
    period = median(gaps)
    if period < 2:
        return None
    turns = np.round(gaps / period)
    on_beat = (turns >= 1) & (np.abs(gaps - turns * period) <= JITTER * period + 1)
    if np.mean(on_beat) < SHARE or on_beat.sum() < FEWEST - 1:
        return None
    return float(np.sum(gaps[on_beat]) / np.sum(turns[on_beat])), on_beat
