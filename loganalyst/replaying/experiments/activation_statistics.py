"""Looks for units that are dead, saturated, or constant, at the checkpoint and after the replayed steps."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from loganalyst.model import Measured
from loganalyst.replaying.batchtensors import leaves
from loganalyst.replaying.bench import Bench
from loganalyst.replaying.experiment import INCONCLUSIVE
from loganalyst.replaying.provenance import OperationWatch
from loganalyst.replaying.stages import Stage, stages

RECTIFIERS = ("relu", "threshold", "clamp_min", "hardtanh")  # hardtanh is also relu6
SATURATING = ("tanh", "sigmoid")
CONVOLUTIONS, PRODUCTS = ("convolution",), ("addmm", "mm", "bmm", "baddbmm", "linear")

Layers = dict[tuple[str, str, int], "_Layer"]


@dataclass
class _Layer:
    """Per unit of an activation: the number of samples in which its output is not 0, and in which its slope is nearly
    0.
    """

    samples: int
    passing: Any
    flat: Any

    @property
    def dead(self) -> float:
        """The share of units whose output is always 0."""
        return float((self.passing == 0).float().mean())

    def saturated(self, often: float) -> float:
        """The share of units that are flat in at least the share `often` of the samples."""
        return float((self.flat >= often * self.samples).float().mean())


@dataclass(frozen=True)
class _StageResult:
    stage: Stage
    layers: Layers = field(default_factory=dict)
    spreads: list[float] = field(default_factory=list)


class _UnitWatch(OperationWatch):
    """Watches activations that are modules or functions."""

    def __init__(self, model: Any, layers: Layers, slope: float) -> None:
        super().__init__(model)
        self._layers, self._slope = layers, slope
        self._axis = -1  # the axis of the units: the channels after a convolution, else the last one

    def observe(self, name: str, inputs: list[Any], outputs: list[Any]) -> None:
        """Record one operation; operations of the loss are ignored."""
        name = name.partition(".")[0].rstrip("_")
        self._axis = 1 if name in CONVOLUTIONS else -1 if name in PRODUCTS else self._axis
        if name not in RECTIFIERS + SATURATING or not self._stack or inputs[0].dim() < 2:
            return
        key = (self._stack[-1], name, self._count[self._stack[-1], name])
        self._count[key[:2]] += 1
        _add_samples(self._layers, key, outputs[0].detach().float().movedim(self._axis, 0).flatten(1), self._slope)


def run(bench: Bench, seed: int) -> Measured:
    """Outcomes `dead`, `saturated`, `constant`, `alive`."""
    looks = [_watch_stage(bench, stage) for stage in stages(bench, seed)]
    last = looks[-1]
    found = next((found for look in reversed(looks) if (found := _fault(look, bench.limits))), None)
    values = _values(last, bench.limits)
    if found:
        return Measured(*found, True, values, start=bench.start)
    if not last.layers and not last.spreads:
        return Measured(INCONCLUSIVE, "no activation and no output of the model is observable", values=values)
    text = f"at most {values['dead_share']:.0%} of a layer's units are dead, {values['saturated_share']:.0%} saturated"
    return Measured("alive", f"{last.stage.name} {text}", False, values, start=bench.start)


def _watch_stage(bench: Bench, stage: Stage) -> _StageResult:
    look = _StageResult(stage)
    hook = bench.model.register_forward_hook(lambda _module, _inputs, output: look.spreads.extend(_spread(output)))
    try:
        for i in range(int(bench.limits["batches"])):
            with _UnitWatch(bench.model, look.layers, bench.limits["slope"]):
                bench.forward(bench.batch(stage.step * bench.spec.accumulate + i))
    finally:
        hook.remove()
    return look


def _add_samples(layers: Layers, key: tuple[str, str, int], units: Any, slope: float) -> None:
    """Add the outputs of units (units x samples)."""
    passing = (units != 0).sum(1)
    steep = 1 - units**2 if key[1] == "tanh" else 4 * units * (1 - units)  # the slope, as a share of the largest one
    flat = (steep < slope).sum(1) if key[1] in SATURATING else passing * 0
    known = layers.setdefault(key, _Layer(0, passing * 0, flat * 0))
    if known.passing.shape == passing.shape:
        known.samples += units.shape[1]
        known.passing, known.flat = known.passing + passing, known.flat + flat


def _spread(output: Any) -> list[float]:
    """The standard deviation of the model's first output over the samples, relative to its size."""
    for _, tensor in leaves(output):
        if tensor.is_floating_point() and tensor.dim() > 1 and len(tensor) > 1:
            rows = tensor.detach().float().flatten(1)
            return [float(rows.std(0).max() / rows.abs().max().clamp_min(1e-30))]
    return []


def _fault(look: _StageResult, limits: Mapping[str, float]) -> tuple[str, str] | None:
    dead = {key: layer.dead for key, layer in look.layers.items() if key[1] in RECTIFIERS}
    inner = list(look.layers.items())[:-1]  # the last may be the output, which may saturate
    flat = {key: layer.saturated(limits["often"]) for key, layer in inner if key[1] in SATURATING}
    for outcome, shares, what in (("dead", dead, "never pass anything"), ("saturated", flat, "are saturated")):
        key = max(shares, key=shares.__getitem__, default=None)
        if key is not None and shares[key] > limits[outcome]:
            samples = look.layers[key].samples
            text = f"{look.stage.name} {shares[key]:.0%} of the units of {key[0]} ({key[1]}) {what}"
            return outcome, f"{text} in {samples:,} samples"
    if look.spreads and max(look.spreads) < limits["same"]:
        return "constant", f"{look.stage.name} the model puts out the same for every input (to {max(look.spreads):.1g})"
    return None


def _values(look: _StageResult, limits: Mapping[str, float]) -> dict[str, float | str | None]:
    rectified = [layer.dead for key, layer in look.layers.items() if key[1] in RECTIFIERS]
    squashed = [layer.saturated(limits["often"]) for key, layer in look.layers.items() if key[1] in SATURATING]
    return {
        "dead_share": max(rectified, default=0.0),
        "saturated_share": max(squashed, default=0.0),
        "spread": max(look.spreads, default=None),
    }
