"""The same steps at three and ten times the rate, or at the highest of a schedule that ran out: a faster fall?"""

import math
from statistics import fmean, stdev
from typing import Any

from loganalyst.model import Measured
from loganalyst.replaying.bench import Bench, Change
from loganalyst.replaying.counterfactual import risen
from loganalyst.replaying.experiment import INCONCLUSIVE
from loganalyst.replaying.trajectory import Trajectory

FACTORS = {f"rate x {by}": Change(rate=by) for by in (3, 10)}


def run(bench: Bench, seed: int) -> Measured:
    """Outcomes `schedule`, `faster`, `no_faster`, `unstable`. A fall is that of the last half of the losses against
    weights that stand still, on the same batches with the same random numbers.
    """
    unchanged = bench.unchanged(seed)
    decayed = _decayed(bench, unchanged)
    if unchanged.nonfinite is not None or not (any(unchanged.rates) or decayed):
        return Measured(INCONCLUSIVE, "the loss is not finite, or every rate 0", start=bench.start)
    changes = {"the schedule's highest rate": Change(prepare=_to_peak, held=True)} if decayed else FACTORS
    found = {name: bench.train(seed, change) for name, change in changes.items()}
    stable = {n: t for n, t in found.items() if bench.rise(t) < bench.limits["stable"]}
    still = bench.train(seed, Change(rate=0.0)).losses
    falls = {n: _fall(still, t.losses) for n, t in {"unchanged": unchanged, **stable}.items()}
    faster = any(_clear(bench, unchanged, t, falls["unchanged"], falls[n]) for n, t in stable.items())
    outcome = ("schedule" if decayed else "faster") if faster else "no_faster" if stable else "unstable"
    told = (f"{n}: {f'{falls[n]:.3g}' if n in falls else risen(bench.rise(t))}" for n, t in found.items())
    level = bench.level().loss
    text = f"from {level:.3g} the loss falls by {falls['unchanged']:.3g} in {len(still)} steps; {', '.join(told)}"
    values = {"level": level, **{f"fall {n}": fall for n, fall in falls.items()}}
    series = {n: t.losses for n, t in {"unchanged": unchanged, **found}.items()}
    return Measured(outcome, text, values=values, series=series, start=bench.start)


def _fall(still: list[float], losses: list[float]) -> float:
    half = len(still) // 2
    return fmean(still[half:]) - fmean(losses[half:])


def _clear(bench: Bench, unchanged: Trajectory, found: Trajectory, usual: float, fall: float) -> bool:
    """Whether a fall is several times the usual one, no small part of the level, and beyond what batches differ by."""
    half = len(found.losses) // 2
    gains = [a - b for a, b in zip(unchanged.losses[half:], found.losses[half:], strict=True)]
    error = stdev(gains) / math.sqrt(len(gains))
    return (
        fall >= bench.limits["faster"] * max(usual, 0.0)
        and fmean(gains) >= bench.limits["gain"] * abs(bench.level().loss)
        and fmean(gains) > bench.limits["sure"] * error
    )


def _decayed(bench: Bench, unchanged: Trajectory) -> bool:
    """Whether the schedule has come down to a small part of its highest rate, and is not on its way up."""
    bench.fresh(0)
    highest, last = _peak(bench.optimizer.param_groups[0]), unchanged.rates[-1]
    return last < bench.limits["decayed"] * highest and last <= unchanged.rates[0]


def _peak(group: dict[str, Any]) -> float:
    """The highest rate of a group, as torch's schedulers keep it."""
    return float(group.get("max_lr", group.get("initial_lr", group["lr"])))


def _to_peak(bench: Bench) -> None:
    for group in bench.optimizer.param_groups:
        group["lr"] = _peak(group)
