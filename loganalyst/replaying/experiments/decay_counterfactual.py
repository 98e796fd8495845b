"""Repeats the steps without weight decay: does the loss fall?"""

from loganalyst.model import Measured
from loganalyst.replaying.bench import Bench, Change
from loganalyst.replaying.experiment import INCONCLUSIVE
from loganalyst.replaying.lossgap import Fall


def run(bench: Bench, seed: int) -> Measured:
    """Outcomes `falls` and `stayed`, by the last half of the losses compared with the unchanged replay."""
    decays = [group.get("weight_decay") or 0.0 for group in bench.optimizer.param_groups]
    if not any(decays):
        return Measured(INCONCLUSIVE, "the optimiser has no weight decay")
    steps = max(bench.steps, int(bench.limits["steps"]))
    unchanged, found = bench.unchanged(seed, steps), bench.train(seed, Change(prepare=_remove_decay), steps)
    series = {"unchanged": unchanged.losses, "without weight decay": found.losses}
    if unchanged.nonfinite is not None or found.nonfinite is not None:
        return Measured(INCONCLUSIVE, "the loss is not finite", series=series, start=bench.start)
    fall, level = Fall.between(unchanged, found), bench.level().loss
    gain, scatter = bench.limits["gain"] * abs(level), bench.limits["sure"] * fall.error
    outcome = "falls" if fall.mean - scatter > gain else "stayed" if fall.mean + scatter < gain else INCONCLUSIVE
    text = f"without the weight decay of {max(decays):g} the loss of {level:.3g} falls {fall.mean:.3g} further"
    values = {"level": level, "fall": fall.mean, "weight_decay": max(decays)}
    return Measured(outcome, f"{text} in {steps} steps", outcome == "falls", values, series, bench.start)


def _remove_decay(bench: Bench) -> None:
    for group in bench.optimizer.param_groups:
        if "weight_decay" in group:
            group["weight_decay"] = 0.0
