"""The same steps with gradients clipped to their usual norm: does the fault vanish?"""

import math

from loganalyst.model import Measured
from loganalyst.replaying.bench import Bench, Change
from loganalyst.replaying.counterfactual import compared
from loganalyst.replaying.experiment import INCONCLUSIVE


def run(bench: Bench, seed: int) -> Measured:
    """Outcomes `vanished` and `stayed`; the usual norm is the median at the checkpoint."""
    usual = bench.level().norm * bench.limits["norm"]
    if not (math.isfinite(usual) and usual > 0):
        return Measured(INCONCLUSIVE, f"the gradient norm at the checkpoint is {usual:g}: nothing to clip to")
    found = compared(bench, seed, {f"clipped to {usual:.3g}": Change(clip=usual)})
    if found.reproduced and max(bench.unchanged(seed).norms) <= usual:
        return Measured(INCONCLUSIVE, f"no gradient is above {usual:.3g}: clipping does nothing", reproduced=True)
    return found
