"""Steps that go back: the program was restarted from an earlier checkpoint."""

import numpy as np

from loganalyst.model import ChangePoint
from loganalyst.signals.robuststatistics import Array


def restart(steps: Array) -> list[ChangePoint]:
    """One finding for each step back; `effect` is the number of repeated steps."""
    back = np.flatnonzero(np.diff(steps) < 0) + 1
    return [ChangePoint(int(i), None, "restart", float(steps[i - 1] - steps[i]), 1.0) for i in back]
