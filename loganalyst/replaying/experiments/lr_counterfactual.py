"""Repeats the steps at a third, a tenth and a hundredth of the rate: does the fault vanish?"""

from loganalyst.model import Measured
from loganalyst.replaying.bench import Bench, Change
from loganalyst.replaying.counterfactual import compare

CHANGES = {f"rate / {by}": Change(rate=1 / by) for by in (3, 10, 100)}


def run(bench: Bench, seed: int) -> Measured:
    """Outcomes `vanished` and `stayed`."""
    return compare(bench, seed, CHANGES)
