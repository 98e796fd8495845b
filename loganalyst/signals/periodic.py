"""Spikes that come at a steady interval."""

from collections.abc import Sequence

import numpy as np

from loganalyst.model import ChangePoint

FEWEST = 4  # spikes
JITTER = 0.1  # robust spread of the gaps, as a share of their median
SHARE = 0.7  # of the gaps that must be near the period or a multiple of it


def periodic(spikes: Sequence[ChangePoint]) -> list[ChangePoint]:
    """At most one; `index` the first spike of the train, `end` its last, `effect` the period in points."""
    if len(spikes) < FEWEST:
        return []
    at = np.array([s.index for s in spikes])
    gaps = np.diff(at)
    period = float(np.median(gaps))
    if period < 2:
        return []
    turns = np.round(gaps / period)
    on_beat = (turns >= 1) & (np.abs(gaps - turns * period) <= JITTER * period + 1)
    share = float(np.mean(on_beat))
    if share < SHARE or on_beat.sum() < FEWEST - 1:
        return []
    first, last = int(np.flatnonzero(on_beat)[0]), int(np.flatnonzero(on_beat)[-1]) + 1
    period = float(np.sum(gaps[on_beat]) / np.sum(turns[on_beat]))
    return [ChangePoint(int(at[first]), int(at[last]), "periodic", period, share * (1 - 0.5 ** (on_beat.sum() - 2)))]
