"""Measures the gradient norm of each layer, at the checkpoint and after the replayed steps, and finds frozen
parameters.
"""

import math
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np

from loganalyst.model import Measured
from loganalyst.replaying.bench import Bench, Change
from loganalyst.replaying.stages import Stage, stages

Found = tuple[str, str]  # an outcome, and the text that explains it


@dataclass(frozen=True)
class _StageResult:
    """One stage: the median gradient norm of each trained parameter over some steps (0 if no gradient reaches it), and
    the parameters, on the CPU.
    """

    stage: Stage
    norms: dict[str, float]
    weights: dict[str, Any]
    reached: frozenset[str]  # parameters that get a gradient

    @property
    def layers(self) -> dict[str, float]:
        """The norm of each layer that has a gradient, in the order of the parameters."""
        squares: dict[str, float] = defaultdict(float)
        for name, norm in self.norms.items():
            squares[name.rpartition(".")[0] or name] += norm**2
        return {name: math.sqrt(square) for name, square in squares.items() if square > 0}


def run(bench: Bench, seed: int) -> Measured:
    """Outcomes `no_rate`, `still`, `underflow`, `zero`, `vanishing`, `starved`, `exploding`, `calm`, `ordinary`."""
    looks = [_measure_stage(bench, stage) for stage in stages(bench, seed)]
    unchanged, limits = bench.unchanged(seed), bench.limits
    finite = [norm for norm in unchanged.norms if math.isfinite(norm)]
    grown = max(finite, default=math.nan) / max(bench.level().norm, 1e-30)
    has_fault = bench.rise(unchanged) >= limits["reproduced"]
    # a fault at the checkpoint came first; one at the end may be the result of an explosion
    found = _still(bench, looks) or _small(bench, looks[0]) or _grown(bench, grown) or _small(bench, looks[-1])
    reproduced = has_fault if found is None else True
    outcome, text = found or _ordinary(looks, grown, calm=has_fault)
    series = {"unchanged": unchanged.losses} if has_fault else {}
    return Measured(outcome, text, reproduced, _values(looks[-1], grown), series, bench.start)


def _measure_stage(bench: Bench, stage: Stage) -> _StageResult:
    trained = {n: p for n, p in bench.model.named_parameters() if p.requires_grad}
    weights = {n: p.detach().cpu().clone() for n, p in trained.items()}
    norms: dict[str, list[float]] = {name: [] for name in trained}
    reached = set()
    for i in range(int(bench.limits["batches"])):
        bench.model.zero_grad(set_to_none=True)
        bench.gradient(stage.step + i)
        reached |= {n for n, p in trained.items() if p.grad is not None}
        for name, p in trained.items():
            norms[name].append(0.0 if p.grad is None else float(p.grad.to_dense().float().norm()))
    return _StageResult(stage, {n: median(v) for n, v in norms.items()}, weights, frozenset(reached))


def _still(bench: Bench, looks: list[_StageResult]) -> Found | None:
    """The parameters that are bitwise unchanged after the steps, and why."""
    import torch

    why: dict[str, list[str]] = defaultdict(list)
    rates = {id(p): group["lr"] for group in bench.optimizer.param_groups for p in group["params"]}
    parameters = dict(bench.model.named_parameters())
    for first, last in pairwise(looks):
        for name in (n for n, w in first.weights.items() if torch.equal(w, last.weights[n])):
            rate = rates.get(id(parameters[name]))
            if rate is None:
                why["the optimiser does not have them"].append(name)
            elif not rate:
                why["their rate is 0"].append(name)
            elif name not in last.reached:
                why["no gradient reaches them"].append(name)
            elif last.norms[name] > bench.limits["least"]:
                why["their updates are lost in rounding"].append(name)
    names = [name for group in why.values() for name in group]
    share = _share(looks[-1], names)
    if share < bench.limits["still"]:
        return None
    reasons = "; ".join(f"{reason}: {_listed(group)}" for reason, group in why.items())
    text = f"{share:.0%} of the trained parameters are unchanged {looks[-1].stage.name} ({reasons})"
    return ("no_rate" if list(why) == ["their rate is 0"] and share == 1 else "still"), text


def _grown(bench: Bench, grown: float) -> Found | None:
    if not grown >= bench.limits["grown"]:
        return None
    return "exploding", f"the gradient norm reaches {grown:.3g} times its level of {bench.level().norm:.3g}"


def _small(bench: Bench, look: _StageResult) -> Found | None:
    """Gradients that are 0, or far smaller than others."""
    return _zero(bench, look) or _apart(look, bench.limits)


def _zero(bench: Bench, look: _StageResult) -> Found | None:
    """Gradients that are exactly 0, and whether they are in float32 too."""
    names = [name for name in look.reached if look.norms[name] == 0]
    share = _share(look, names)
    if share < bench.limits["still"]:
        return None
    text = f"{look.stage.name} the gradient of {share:.0%} of the parameters is exactly 0 ({_listed(sorted(names))})"
    if bench.spec.precision:
        bench.model.zero_grad(set_to_none=True)
        bench.gradient(look.stage.step, Change(precision="float32"))
        whole = {n: p.grad for n, p in bench.model.named_parameters()}
        if any(whole[n] is not None and bool(whole[n].any()) for n in names):
            return "underflow", f"{text}; in float32 it is not"
    return "zero", text


def _apart(look: _StageResult, limits: Any) -> Found | None:
    """Layers whose gradients differ by orders of magnitude, evenly with depth or not, or are almost 0 everywhere."""
    layers = look.layers
    if not layers:
        return None
    low, high = min(layers, key=layers.__getitem__), max(layers, key=layers.__getitem__)
    ratio = layers[high] / layers[low]
    if layers[high] < limits["nothing"]:
        return "vanishing", f"{look.stage.name} no layer has a gradient above {layers[high]:.2g}"
    if ratio < limits["ratio"] or layers[low] > limits["least"]:
        return None
    fit = _with_depth(layers)
    text = (
        f"{look.stage.name} the gradient of {low} is {layers[low]:.2g}, {ratio:.2g} times smaller than that of {high};"
        f" from layer to layer it grows {'evenly' if fit > limits['even'] else 'unevenly'} (correlation {fit:.2f})"
    )
    return ("vanishing" if fit > limits["even"] else "starved"), text


def _with_depth(layers: dict[str, float]) -> float:
    """The correlation between the depth of a layer and the logarithm of its gradient norm."""
    norms = np.log10(list(layers.values()))
    return float(np.corrcoef(np.arange(len(norms)), norms)[0, 1]) if len(norms) > 1 and np.ptp(norms) > 0 else 0.0


def _ordinary(looks: list[_StageResult], grown: float, *, calm: bool) -> Found:
    layers = looks[-1].layers.values()
    text = f"layers lie within a factor of {max(layers) / min(layers):.3g}" if layers else "no layer has a gradient"
    text += f", the gradient norm within {grown:.3g} times its level, and all trained parameters move"
    return ("calm" if calm else "ordinary"), f"{text}, although the loss rises" if calm else text


def _share(look: _StageResult, names: list[str]) -> float:
    """The share of these parameters in all trained values."""
    sizes = {name: int(weight.numel()) for name, weight in look.weights.items()}
    return sum(sizes[n] for n in names) / max(sum(sizes.values()), 1)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _values(look: _StageResult, grown: float) -> dict[str, float | str | None]:
    layers = look.layers
    if not layers:
        return {"grown": grown}
    low, high = min(layers, key=layers.__getitem__), max(layers, key=layers.__getitem__)
    least: dict[str, float | str | None] = {"low_layer": low, "low": layers[low], "high_layer": high}
    return {**least, "high": layers[high], "depth_fit": _with_depth(layers), "grown": grown}
