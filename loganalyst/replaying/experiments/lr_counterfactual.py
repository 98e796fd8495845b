"""The same steps at a third, a tenth and a hundredth of the rate: does the fault vanish?"""

from loganalyst.model import Measured
from loganalyst.replaying.bench import Bench, Change
from loganalyst.replaying.counterfactual import compared

CHANGES = {f"rate / {by}": Change(rate=1 / by) for by in (3, 10, 100)}


def run(bench: Bench, seed: int) -> Measured:
    """Outcomes `vanished` and `stayed`."""
    return compared(bench, seed, CHANGES)
