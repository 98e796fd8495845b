"""What experiments share that change one thing, replay the same steps, and look whether the fault is gone."""

import math
from collections.abc import Mapping

from loganalyst.model import Measured
from loganalyst.replaying.bench import Bench, Change
from loganalyst.replaying.experiment import INCONCLUSIVE
from loganalyst.replaying.trajectory import Trajectory


def compared(bench: Bench, seed: int, changes: Mapping[str, Change], steps: int | None = None) -> Measured:
    """Outcome `vanished` where one of the changes (named as people read them, the strongest last) takes the fault away,
    `stayed` where none does; inconclusive unless the unchanged replay reproduces it. With the limits `reproduced` and
    `vanished`, of the rise of the loss. Changes are replayed over `steps` (None: as many as unchanged).
    """
    unchanged = bench.unchanged(seed)
    rise = bench.rise(unchanged)
    values: dict[str, float | str | None] = {"rise": rise, "step": unchanged.peak, "level": bench.level().loss}
    series = {"unchanged": unchanged.losses}
    if not rise >= bench.limits["reproduced"]:
        text = f"the unchanged replay shows no fault within {len(unchanged.losses)} steps ({risen(rise)})"
        return Measured(INCONCLUSIVE, text, reproduced=False, values=values, series=series, start=bench.start)
    rises: dict[str, float] = {}
    for name, change in changes.items():
        found = bench.train(seed, change, steps)
        rises[name] = bench.rise(found)
        series[name] = found.losses
    values |= {f"rise {name}": value for name, value in rises.items()}
    told = ", ".join(f"{name}: {risen(value)}" for name, value in rises.items())
    text = f"unchanged, {fault(bench, unchanged)}; {told}"
    vanished = min(rises.values()) < bench.limits["vanished"]
    stayed = min(rises.values()) >= bench.limits["reproduced"]
    outcome = "vanished" if vanished else "stayed" if stayed else INCONCLUSIVE
    return Measured(outcome, text, reproduced=True, values=values, series=series, start=bench.start)


def fault(bench: Bench, trajectory: Trajectory) -> str:
    """What a replay shows, in words."""
    if trajectory.nonfinite is not None:
        return f"the loss is not finite at step {trajectory.nonfinite:,}"
    return f"the loss reaches {risen(bench.rise(trajectory))} at step {trajectory.peak:,}"


def risen(rise: float) -> str:
    """A rise in words."""
    if math.isnan(rise):
        return "no level to compare with"
    return "not finite" if math.isinf(rise) else f"{rise:.3g} times its level"
