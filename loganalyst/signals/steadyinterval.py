"""Whether events come at a steady interval."""

import numpy as np
from numpy.typing import NDArray

from loganalyst.signals.robuststatistics import as_floats, median

MIN_EVENTS = 4
MAX_JITTER = 0.1  # distance of a gap from a multiple of the period, as a share of the period
MIN_STEADY_SHARE = 0.7  # share of the gaps that must be near the period or a multiple of it


def rhythm(at: NDArray[np.intp]) -> tuple[float, NDArray[np.bool_]] | None:
    """The period of events at the sorted places `at`, and which gaps between them keep it; None without a period."""
    if at.size < MIN_EVENTS:
        return None
    gaps = as_floats(np.diff(at))
    period = median(gaps)
    if period < 2:
        return None
    multiples = np.round(gaps / period)
    on_beat = (multiples >= 1) & (np.abs(gaps - multiples * period) <= MAX_JITTER * period + 1)
    if np.mean(on_beat) < MIN_STEADY_SHARE or on_beat.sum() < MIN_EVENTS - 1:
        return None
    return float(np.sum(gaps[on_beat]) / np.sum(multiples[on_beat])), on_beat
