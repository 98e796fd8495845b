"""The gap between the losses of two replays on the same batches."""

import math
from dataclasses import dataclass
from statistics import fmean, stdev

from loganalyst.replaying.trajectory import Trajectory


@dataclass(frozen=True)
class Fall:
    """The mean fall of the loss, with its standard error over the batches."""

    mean: float
    error: float

    @classmethod
    def between(cls, before: Trajectory, after: Trajectory) -> "Fall":
        """Measure it in the last half of the losses, all of which are finite."""
        half = len(before.losses) // 2
        falls = [a - b for a, b in zip(before.losses[half:], after.losses[half:], strict=True)]
        return cls(fmean(falls), stdev(falls) / math.sqrt(len(falls)))
