"""NaN and ±Inf: one finding at the first, with how many there are."""

import numpy as np

from loganalyst.model import ChangePoint
from loganalyst.signals.robuststatistics import Array


def nonfinite(values: Array) -> list[ChangePoint]:
    """The first run of non-finite values; `end` is its last point (None: to the end), `effect` counts all there are."""
    bad = ~np.isfinite(values)
    count = int(np.count_nonzero(bad))
    if not count:
        return []
    first = int(np.argmax(bad))
    rest = np.flatnonzero(~bad[first:])
    return [ChangePoint(first, first + int(rest[0]) - 1 if rest.size else None, "nonfinite", float(count), 1.0)]
