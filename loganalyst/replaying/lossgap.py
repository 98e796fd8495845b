"""How far one replay comes below another on the same batches."""

import math
from dataclasses import dataclass
from statistics import fmean, stdev

from loganalyst.replaying.trajectory import Trajectory


@dataclass(frozen=True)
class Fall:
    """How far the loss falls, with its standard error over the batches."""

    mean: float
    error: float

    @classmethod
    def of(cls, before: Trajectory, after: Trajectory) -> "Fall":
        """In the last half of the losses, all of them finite."""
        half = len(before.losses) // 2
        falls = [a - b for a, b in zip(before.losses[half:], after.losses[half:], strict=True)]
        return cls(fmean(falls), stdev(falls) / math.sqrt(len(falls)))
