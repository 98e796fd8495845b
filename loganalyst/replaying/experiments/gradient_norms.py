"""The gradient norm of each layer, at the checkpoint and after the replayed steps, and what never moves."""

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

Found = tuple[str, str]  # an outcome, and what shows it


@dataclass(frozen=True)
class _Look:
    """At one stage: the median gradient norm over some steps of each parameter that is trained (0 where none reaches
    it), and the parameters themselves, on the CPU.
    """

    stage: Stage
    norms: dict[str, float]
    weights: dict[str, Any]
    reached: frozenset[str]  # parameters that get a gradient at all

    @property
    def layers(self) -> dict[str, float]:
        """The norm of each layer that has a gradient, in the order of the parameters."""
        squares: dict[str, float] = defaultdict(float)
        for name, norm in self.norms.items():
            squares[name.rpartition(".")[0] or name] += norm**2
        return {name: math.sqrt(square) for name, square in squares.items() if square > 0}


def run(bench: Bench, seed: int) -> Measured:
    """Outcomes `no_rate`, `still`, `underflow`, `zero`, `vanishing`, `starved`, `exploding`, `calm`, `ordinary`."""
    looks = [_look(bench, stage) for stage in stages(bench, seed)]
    unchanged, limits = bench.unchanged(seed), bench.limits
    finite = [norm for norm in unchanged.norms if math.isfinite(norm)]
    grown = max(finite, default=math.nan) / max(bench.level().norm, 1e-30)
    shown = bench.rise(unchanged) >= limits["reproduced"]
    # what is so at the checkpoint came first; what is so at the end may be what an explosion left
    found = _still(bench, looks) or _small(bench, looks[0]) or _grown(bench, grown) or _small(bench, looks[-1])
    reproduced = shown if found is None else True
    outcome, text = found or _ordinary(looks, grown, calm=shown)
    series = {"unchanged": unchanged.losses} if shown else {}
    return Measured(outcome, text, reproduced, _values(looks[-1], grown), series, bench.start)


def _look(bench: Bench, stage: Stage) -> _Look:
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
    return _Look(stage, {n: median(v) for n, v in norms.items()}, weights, frozenset(reached))


def _still(bench: Bench, looks: list[_Look]) -> Found | None:
    """What is, to the last bit, what it was before the steps, and why."""
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
    told = "; ".join(f"{reason}: {_some(group)}" for reason, group in why.items())
    text = f"{share:.0%} of what is to be trained does not change {looks[-1].stage.name} ({told})"
    return ("no_rate" if list(why) == ["their rate is 0"] and share == 1 else "still"), text


def _grown(bench: Bench, grown: float) -> Found | None:
    if not grown >= bench.limits["grown"]:
        return None
    return "exploding", f"the gradient norm reaches {grown:.3g} times its level of {bench.level().norm:.3g}"


def _small(bench: Bench, look: _Look) -> Found | None:
    """Gradients that are 0, or far smaller than others."""
    return _zero(bench, look) or _apart(look, bench.limits)


def _zero(bench: Bench, look: _Look) -> Found | None:
    """Gradients that are exactly 0, and whether in float32 they are, too."""
    names = [name for name in look.reached if look.norms[name] == 0]
    share = _share(look, names)
    if share < bench.limits["still"]:
        return None
    text = f"{look.stage.name} the gradient of {share:.0%} of the parameters is exactly 0 ({_some(sorted(names))})"
    if bench.spec.precision:
        bench.model.zero_grad(set_to_none=True)
        bench.gradient(look.stage.step, Change(precision="float32"))
        whole = {n: p.grad for n, p in bench.model.named_parameters()}
        if any(whole[n] is not None and bool(whole[n].any()) for n in names):
            return "underflow", f"{text}; in float32 it is not"
    return "zero", text


def _apart(look: _Look, limits: Any) -> Found | None:
    """Layers whose gradients are orders of magnitude apart, evenly with depth or not, or next to none at all."""
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
    """The correlation of the logarithm of the norm with the place of a layer, from the first on."""
    norms = np.log10(list(layers.values()))
    return float(np.corrcoef(np.arange(len(norms)), norms)[0, 1]) if len(norms) > 1 and np.ptp(norms) > 0 else 0.0


def _ordinary(looks: list[_Look], grown: float, *, calm: bool) -> Found:
    layers = looks[-1].layers.values()
    text = f"layers lie within a factor of {max(layers) / min(layers):.3g}" if layers else "no layer has a gradient"
    text += f", the gradient norm within {grown:.3g} times its level, and what is trained moves"
    return ("calm" if calm else "ordinary"), f"{text}, although the loss rises" if calm else text


def _share(look: _Look, names: list[str]) -> float:
    """Of the numbers that are trained."""
    sizes = {name: int(weight.numel()) for name, weight in look.weights.items()}
    return sum(sizes[n] for n in names) / max(sum(sizes.values()), 1)


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _values(look: _Look, grown: float) -> dict[str, float | str | None]:
    layers = look.layers
    if not layers:
        return {"grown": grown}
    low, high = min(layers, key=layers.__getitem__), max(layers, key=layers.__getitem__)
    least: dict[str, float | str | None] = {"low_layer": low, "low": layers[low], "high_layer": high}
    return {**least, "high": layers[high], "depth_fit": _with_depth(layers), "grown": grown}
