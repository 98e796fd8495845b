"""NaN and ±Inf: one finding at the first, with their number."""

import numpy as np

from loganalyst.model import ChangePoint
from loganalyst.signals.robuststatistics import Array


def nonfinite(values: Array) -> list[ChangePoint]:
    """The first run of non-finite values; `end` is its last point (None: to the end), `effect`
    counts all in the curve.
    """
    bad = ~np.isfinite(values)
    count = int(np.count_nonzero(bad))
    if not count:
        return []
    first = int(np.argmax(bad))
    finite = np.flatnonzero(~bad[first:])
    return [ChangePoint(first, first + int(finite[0]) - 1 if finite.size else None, "nonfinite", float(count), 1.0)]
