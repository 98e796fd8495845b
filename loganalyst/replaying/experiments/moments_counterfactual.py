"""The same steps with Adam's second moment made faster, or with a larger eps under it: does the fault vanish?"""

from typing import Any

from loganalyst.model import Measured
from loganalyst.replaying.bench import Bench, Change
from loganalyst.replaying.counterfactual import compared
from loganalyst.replaying.experiment import INCONCLUSIVE


def run(bench: Bench, seed: int) -> Measured:
    """Outcomes `vanished` and `stayed`; `beta2` and `eps` are what Adam's are changed to where they are not there."""
    groups = [g for g in bench.optimizer.param_groups if "eps" in g and len(g.get("betas", ())) == 2]
    if not groups:
        return Measured(INCONCLUSIVE, f"{type(bench.optimizer).__name__} keeps no second moment that Adam's are like")
    beta2, eps = bench.limits["beta2"], bench.limits["eps"]
    changes: dict[str, Change] = {}
    if any(g["betas"][1] > beta2 for g in groups):
        changes[f"beta2 of {beta2:g}"] = Change(prepare=lambda b: faster(b.optimizer, beta2))
    if any(g["eps"] < eps for g in groups):
        changes[f"eps of {eps:g}"] = Change(prepare=lambda b: _floored(b.optimizer, eps))
    if not changes:
        return Measured(INCONCLUSIVE, f"beta2 is no more than {beta2:g}, and eps no less than {eps:g}, already")
    return compared(bench, seed, changes)


def faster(optimizer: Any, beta2: float) -> None:
    """A lower beta2. The moments so far are scaled to what they stand for under the new correction of their bias:
    else a young mean, corrected as if it were settled, would make the first steps several times too long.
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


def _floored(optimizer: Any, eps: float) -> None:
    for group in optimizer.param_groups:
        if "eps" in group:
            group["eps"] = max(group["eps"], eps)
