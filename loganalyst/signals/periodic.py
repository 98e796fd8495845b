"""Spikes at a steady interval."""

from collections.abc import Sequence

import numpy as np

from loganalyst.model import ChangePoint
from loganalyst.signals.steadyinterval import rhythm


def periodic(spikes: Sequence[ChangePoint]) -> list[ChangePoint]:
    """At most one; `index` is the first spike of the train, `end` its last, `effect` the period in points."""
    at = np.array([s.index for s in spikes], np.intp)
    found = rhythm(at)
    if found is None:
        return []
    period, on_beat = found
    beats = np.flatnonzero(on_beat)
    significance = float(np.mean(on_beat)) * (1 - 0.5 ** (beats.size - 2))
    return [ChangePoint(int(at[beats[0]]), int(at[beats[-1] + 1]), "periodic", period, significance)]
