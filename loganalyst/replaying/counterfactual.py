"""The shared part of counterfactuals: change one thing, replay the same steps, and see whether the fault vanishes."""

import math
from collections.abc import Mapping

from loganalyst.model import Measured
from loganalyst.replaying.bench import Bench, Change
from loganalyst.replaying.experiment import INCONCLUSIVE
from loganalyst.replaying.trajectory import Trajectory


def compare(bench: Bench, seed: int, changes: Mapping[str, Change], steps: int | None = None) -> Measured:
    """Outcome `vanished` if one of the changes removes the fault, `stayed` if none does; inconclusive unless the
    unchanged replay reproduces the fault. `changes` have readable names, the strongest is last. The limits
    `reproduced` and `vanished` apply to the rise of the loss. Changes are replayed over `steps` (None: as many as
    unchanged).
    """
    unchanged = bench.unchanged(seed)
    rise = bench.rise(unchanged)
    values: dict[str, float | str | None] = {"rise": rise, "step": unchanged.peak, "level": bench.level().loss}
    series = {"unchanged": unchanged.losses}
    if not rise >= bench.limits["reproduced"]:
        text = f"the unchanged replay shows no fault within {len(unchanged.losses)} steps ({describe_rise(rise)})"
        return Measured(INCONCLUSIVE, text, reproduced=False, values=values, series=series, start=bench.start)
    rises: dict[str, float] = {}
    for name, change in changes.items():
        found = bench.train(seed, change, steps)
        rises[name] = bench.rise(found)
        series[name] = found.losses
    values |= {f"rise {name}": value for name, value in rises.items()}
    results = ", ".join(f"{name}: {describe_rise(value)}" for name, value in rises.items())
    text = f"unchanged, {describe_fault(bench, unchanged)}; {results}"
    vanished = min(rises.values()) < bench.limits["vanished"]
    stayed = min(rises.values()) >= bench.limits["reproduced"]
    outcome = "vanished" if vanished else "stayed" if stayed else INCONCLUSIVE
    return Measured(outcome, text, reproduced=True, values=values, series=series, start=bench.start)


def describe_fault(bench: Bench, trajectory: Trajectory) -> str:
    """The fault that a replay shows, in words."""
    if trajectory.nonfinite is not None:
        return f"the loss is not finite at step {trajectory.nonfinite:,}"
    return f"the loss reaches {describe_rise(bench.rise(trajectory))} at step {trajectory.peak:,}"


def describe_rise(rise: float) -> str:
    """A rise in words."""
    if math.isnan(rise):
        return "no level to compare with"
    return "not finite" if math.isinf(rise) else f"{rise:.3g} times its level"
