"""Repeats the steps at 3 and 10 times the rate, or at the highest rate of a decayed schedule: does the loss fall
faster?
"""

from typing import Any

from loganalyst.model import Measured
from loganalyst.replaying.bench import Bench, Change
from loganalyst.replaying.counterfactual import describe_rise
from loganalyst.replaying.experiment import INCONCLUSIVE
from loganalyst.replaying.lossgap import Fall
from loganalyst.replaying.trajectory import Trajectory

FACTORS = {f"rate x {by}": Change(rate=by) for by in (3, 10)}


def run(bench: Bench, seed: int) -> Measured:
    """Outcomes `schedule`, `faster`, `no_faster`, `unstable`. A fall is the gap between the last half of the losses and
    the losses with frozen weights, on the same batches with the same random numbers.
    """
    steps = max(bench.steps, int(bench.limits["steps"]))
    unchanged = bench.unchanged(seed, steps)
    decayed = _decayed(bench, unchanged)
    if unchanged.nonfinite is not None or not (any(unchanged.rates) or decayed):
        return Measured(INCONCLUSIVE, "the loss is not finite, or every rate 0", start=bench.start)
    changes = {"the schedule's highest rate": Change(prepare=_to_peak, hold_rates=True)} if decayed else FACTORS
    found = {name: bench.train(seed, change, steps) for name, change in changes.items()}
    still = bench.train(seed, Change(rate=0.0), steps)
    highest = bench.limits["stable"] * bench.rise(still)  # batches differ, and some have a high loss in any case
    stable = {n: t for n, t in found.items() if bench.rise(t) < highest}
    falls = {n: Fall.between(still, t) for n, t in {"unchanged": unchanged, **stable}.items()}
    words = {n: f"{falls[n].mean:.3g}" if n in falls else describe_rise(bench.rise(t)) for n, t in found.items()}
    results = ", ".join(f"{name}: {word}" for name, word in words.items())
    usual, level = falls.pop("unchanged").mean, bench.level().loss
    text = f"from {level:.3g} the loss falls by {usual:.3g} in {steps} steps; {results}"
    values = {"level": level, "fall unchanged": usual, **{f"fall {n}": fall.mean for n, fall in falls.items()}}
    series = {n: t.losses for n, t in {"unchanged": unchanged, **found}.items()}
    outcome = _outcome(bench, list(falls.values()), usual)
    outcome = "schedule" if outcome == "faster" and decayed else outcome
    return Measured(outcome, text, values=values, series=series, start=bench.start)


def _outcome(bench: Bench, falls: list[Fall], usual: float) -> str:
    """The outcome of the stable falls at higher rates."""
    if not falls:
        return "unstable"
    sure, clear = bench.limits["sure"], bench.limits["faster"] * max(usual, 0.0)
    if any(fall.mean >= clear and fall.mean > max(usual, 0.0) + sure * fall.error for fall in falls):
        return "faster"
    limit = max(clear, bench.limits["gain"] * abs(bench.level().loss))
    return "no_faster" if all(fall.mean + sure * fall.error < limit for fall in falls) else INCONCLUSIVE


def _decayed(bench: Bench, unchanged: Trajectory) -> float | None:
    """The highest rate of a schedule that has decayed to a small part of it and does not rise; else None."""
    bench.restore(0)
    highest, last = _peak(bench.optimizer.param_groups[0]), unchanged.rates[-1]
    return highest if last < bench.limits["decayed"] * highest and last <= unchanged.rates[0] else None


def _peak(group: dict[str, Any]) -> float:
    """The highest rate of a group, which torch's schedulers keep."""
    return float(group.get("max_lr", group.get("initial_lr", group["lr"])))


def _to_peak(bench: Bench) -> None:
    for group in bench.optimizer.param_groups:
        group["lr"] = _peak(group)
