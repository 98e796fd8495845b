"""Repeats the steps with a lower_beta2 second moment of Adam, or with a larger eps: does the fault vanish?"""

from typing import Any

from loganalyst.model import Measured
from loganalyst.replaying.bench import Bench, Change
from loganalyst.replaying.counterfactual import compare
from loganalyst.replaying.experiment import INCONCLUSIVE


def run(bench: Bench, seed: int) -> Measured:
    """Outcomes `vanished` and `stayed`. Adam's beta2 and eps are changed to the limits `beta2` and `eps`."""
    groups = [g for g in bench.optimizer.param_groups if "eps" in g and len(g.get("betas", ())) == 2]
    if not groups:
        return Measured(INCONCLUSIVE, f"{type(bench.optimizer).__name__} keeps no second moment as Adam does")
    beta2, eps = bench.limits["beta2"], bench.limits["eps"]
    changes: dict[str, Change] = {}
    if any(g["betas"][1] > beta2 for g in groups):
        changes[f"beta2 of {beta2:g}"] = Change(prepare=lambda b: lower_beta2(b.optimizer, beta2))
    if any(g["eps"] < eps for g in groups):
        changes[f"eps of {eps:g}"] = Change(prepare=lambda b: _raise_eps(b.optimizer, eps))
    if not changes:
        return Measured(INCONCLUSIVE, f"beta2 is already at most {beta2:g} and eps at least {eps:g}")
    return compare(bench, seed, changes)


def lower_beta2(optimizer: Any, beta2: float) -> None:
    """Lower beta2. The moments are rescaled so that their corrected values stay the same under the new bias correction.
    Otherwise a young mean would count as settled, and the first steps would be several times too long.
    """
    states = optimizer.state
    for group in optimizer.param_groups:
        if len(group.get("betas", ())) != 2 or group["betas"][1] <= beta2:
            continue
        before = group["betas"][1]
        group["betas"] = (group["betas"][0], beta2)
        for state in (states[p] for p in group["params"] if p in states):
            steps = float(state.get("step", 0))
            if steps and "exp_avg_sq" in state:
                state["exp_avg_sq"].mul_((1 - beta2**steps) / (1 - before**steps))


def _raise_eps(optimizer: Any, eps: float) -> None:
    for group in optimizer.param_groups:
        if "eps" in group:
            group["eps"] = max(group["eps"], eps)
