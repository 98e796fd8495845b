"""The same steps with the optimiser's memory thrown away: does a warm-up take the fault away, or the loss bring it?"""

from loganalyst.model import Measured
from loganalyst.replaying.bench import Bench, Change
from loganalyst.replaying.counterfactual import compared, risen
from loganalyst.replaying.experiment import INCONCLUSIVE


def run(bench: Bench, seed: int) -> Measured:
    """Outcomes `vanished` and `stayed` where the unchanged replay shows the fault; else `brought` where it comes once
    the optimiser's memory is gone, as after a restart that does not load it, or `harmless` where it does not.
    """
    if not bench.rise(bench.unchanged(seed)) >= bench.limits["reproduced"]:
        return _forgotten(bench, seed)
    length = max(int(bench.limits["share"] * bench.steps), 2)
    warm = Change(rate=lambda i: min((i + 1) / length, 1.0), prepare=_forget)
    # as many steps at the full rate as unchanged: a rate that is too high for all of the run shows it in them
    return compared(bench, seed, {f"anew with a warm-up of {length} steps": warm}, steps=bench.steps + length)


def _forgotten(bench: Bench, seed: int) -> Measured:
    bench.fresh(seed)
    if not bench.optimizer.state:
        return Measured(INCONCLUSIVE, "no fault comes, and the optimiser has no memory to lose", reproduced=False)
    unchanged, found = bench.unchanged(seed), bench.train(seed, Change(prepare=_forget))
    usual, rise = bench.rise(unchanged), bench.rise(found)
    text = f"unchanged, the loss reaches {risen(usual)}; without the optimiser's memory: {risen(rise)}"
    ratio = rise / usual
    outcome = INCONCLUSIVE
    if ratio >= bench.limits["brought"]:
        outcome = "brought"
    elif ratio < bench.limits["harmless"]:
        outcome = "harmless"
    values = {"rise": usual, "rise without memory": rise, "step": found.peak if outcome == "brought" else None}
    series = {"unchanged": unchanged.losses, "without memory": found.losses}
    return Measured(outcome, text, outcome == "brought", values, series, bench.start)


def _forget(bench: Bench) -> None:
    for state in bench.optimizer.state.values():
        state.clear()
