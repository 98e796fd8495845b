"""Repeats the steps with gradients clipped to their usual norm: does the fault vanish?"""

import math

from loganalyst.model import Measured
from loganalyst.replaying.bench import Bench, Change
from loganalyst.replaying.counterfactual import compare
from loganalyst.replaying.experiment import INCONCLUSIVE


def run(bench: Bench, seed: int) -> Measured:
    """Outcomes `vanished` and `stayed`; the usual norm is the median at the checkpoint."""
    usual = bench.level().norm * bench.limits["norm"]
    if not (math.isfinite(usual) and usual > 0):
        return Measured(INCONCLUSIVE, f"the gradient norm at the checkpoint is {usual:g}: there is no norm to clip to")
    found = compare(bench, seed, {f"clipped to {usual:.3g}": Change(clip=usual)})
    if found.reproduced and max(bench.unchanged(seed).norms) <= usual:
        return Measured(INCONCLUSIVE, f"no gradient is above {usual:.3g}: clipping has no effect", reproduced=True)
    return found
