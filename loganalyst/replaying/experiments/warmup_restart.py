"""Repeats the steps with a reset optimiser: does a warm-up remove the fault, or does the reset cause it?"""

from loganalyst.model import Measured
from loganalyst.replaying.bench import Bench, Change
from loganalyst.replaying.counterfactual import compare, describe_rise
from loganalyst.replaying.experiment import INCONCLUSIVE


def run(bench: Bench, seed: int) -> Measured:
    """Outcomes `vanished` and `stayed` if the unchanged replay shows the fault. Otherwise `brought` if it appears once
    the optimiser's state is lost, as after a restart that does not load it, or `harmless` if not.
    """
    if not bench.rise(bench.unchanged(seed)) >= bench.limits["reproduced"]:
        return _without_state(bench, seed)
    length = max(int(bench.limits["share"] * bench.steps), 2)
    warm = Change(rate=lambda i: min((i + 1) / length, 1.0), prepare=_clear_state)
    # as many steps at the full rate as unchanged: a rate that is always too high shows in them
    return compare(bench, seed, {f"a reset with a warm-up of {length} steps": warm}, steps=bench.steps + length)


def _without_state(bench: Bench, seed: int) -> Measured:
    bench.restore(seed)
    if not bench.optimizer.state:
        return Measured(INCONCLUSIVE, "no fault occurs, and the optimiser has no state to lose", reproduced=False)
    unchanged, found = bench.unchanged(seed), bench.train(seed, Change(prepare=_clear_state))
    usual, rise = bench.rise(unchanged), bench.rise(found)
    text = f"unchanged, the loss reaches {describe_rise(usual)}; without the optimiser's state: {describe_rise(rise)}"
    ratio = rise / usual
    outcome = INCONCLUSIVE
    if ratio >= bench.limits["brought"]:
        outcome = "brought"
    elif ratio < bench.limits["harmless"]:
        outcome = "harmless"
    values = {"rise": usual, "rise without memory": rise, "step": found.peak if outcome == "brought" else None}
    series = {"unchanged": unchanged.losses, "without memory": found.losses}
    return Measured(outcome, text, outcome == "brought", values, series, bench.start)


def _clear_state(bench: Bench) -> None:
    for state in bench.optimizer.state.values():
        state.clear()
