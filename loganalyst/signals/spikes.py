"""Single excursions in the worse direction that come back."""

import numpy as np

from loganalyst.model import ChangePoint
from loganalyst.signals.prepared import Prepared

REACH = 8.0  # noise units an excursion has at least
OPPOSITE = 1.5  # and so many times the largest excursion the other way
MOST = 1000  # spikes reported at most, the largest first


def spikes(p: Prepared) -> list[ChangePoint]:
    """Runs of points far above the local median."""
    if p.y.size < 7:
        return []
    z = (p.y - p.trend) / p.noise
    limit = max(REACH, OPPOSITE * float(-z.min()))
    high = np.flatnonzero(z > limit)
    if not high.size:
        return []
    groups = np.split(high, np.flatnonzero(np.diff(high) > 3) + 1)
    found = [
        ChangePoint(int(g[0]), int(g[-1]), "spike", float(z[g].max()), _sure(float(z[g].max()), limit)) for g in groups
    ]
    return sorted(sorted(found, key=lambda c: -c.effect)[:MOST], key=lambda c: c.index)


def _sure(z: float, limit: float) -> float:
    return float(1 - 0.5 * limit / z)
