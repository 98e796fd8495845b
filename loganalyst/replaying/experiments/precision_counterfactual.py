"""Repeats the steps in float32: does the fault vanish? And are there gradients that half precision rounds to zero?"""

from dataclasses import replace
from typing import Any

from loganalyst.model import Measured
from loganalyst.replaying.bench import UNCHANGED, Bench, Change
from loganalyst.replaying.counterfactual import compare
from loganalyst.replaying.experiment import INCONCLUSIVE

FLOAT32 = Change(precision="float32")


def run(bench: Bench, seed: int) -> Measured:
    """Outcomes `underflow`, `vanished`, `stayed`, `single`; `lost` is the share of gradients rounded to 0."""
    if bench.spec.precision is None and not any(p.element_size() < 4 for p in bench.model.parameters()):
        return Measured("single", "weights and operations are in float32: the training uses no half precision")
    if bench.spec.precision is None:
        return Measured(INCONCLUSIVE, "the weights themselves are in half precision: no step in float32 is possible")
    lost = _underflow_share(bench, seed)
    if lost >= bench.limits["lost"]:
        text = f"{lost:.0%} of the gradients that are above 0 in float32 are exactly 0 in {bench.spec.precision}"
        return Measured("underflow", text, reproduced=True, values={"lost": lost}, start=bench.start)
    found = compare(bench, seed, {"in float32": FLOAT32})
    return replace(found, values={**found.values, "lost": lost})


def _underflow_share(bench: Bench, seed: int) -> float:
    """The share of a step's gradients at the checkpoint that are 0 in half precision but not in float32."""
    whole, half = (_gradients(bench, seed, change) for change in (FLOAT32, UNCHANGED))
    nonzero = sum(int((w != 0).sum()) for w in whole)
    lost = sum(int(((w != 0) & (h == 0)).sum()) for w, h in zip(whole, half, strict=True))
    return lost / nonzero if nonzero else 0.0


def _gradients(bench: Bench, seed: int, change: Change) -> list[Any]:
    bench.restore(seed)
    bench.gradient(bench.start, change)
    return [p.grad.detach().clone() for p in bench.model.parameters() if p.grad is not None]
