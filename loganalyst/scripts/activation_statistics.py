"""The output of the layers: spread, zeros, units that are dead for every input.

    inputs, _ = next(iter(loader))    # a hundred inputs or more: a dead unit is 0 for all of them
    activation_statistics(model, lambda: model(inputs))
    activation_statistics(model, lambda: model(inputs), axis=1)    # Conv1d: units lie along axis 1

It measures each module without children (not functions such as F.relu), in eval mode and without gradients, and
restores the mode of every module. Units lie along axis 1 of outputs with 4 or 5 axes, else along the last axis.
Healthy: about half of a ReLU's output is 0, almost no unit is dead, and all layers have similar deviations.
Suspicious: more than 0.9 of a layer's output exactly 0; more than half of its units dead; NaN or Inf; the same output
for every input.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch


def activation_statistics(model: torch.nn.Module, run: Callable[[], object], axis: int | None = None) -> dict[str, Any]:
    """For each layer, in the order of the calls: mean, deviation, shares of zeros, dead units and constant units.

    A repeated call of a layer is listed as `name#2`.
    """
    layers: dict[str, dict[str, float]] = {}
    modes = {module: module.training for module in model.modules()}
    leaves = [(name, module) for name, module in model.named_modules() if not any(module.children())]
    hooks = [
        module.register_forward_hook(partial(_measure, layers, name or "(model)", axis)) for name, module in leaves
    ]
    try:
        model.eval()
        with torch.no_grad():
            run()
    finally:
        for hook in hooks:
            hook.remove()
        for module, mode in modes.items():
            module.training = mode
    suspicious = [f"{name}: {fault}" for name, layer in layers.items() for fault in _faults(layer)]
    print(f"{'layer':<40} {'mean':>10} {'std':>10} {'zeros':>7} {'dead':>7}")
    for name, layer in layers.items():
        print(f"{name:<40} {layer['mean']:>10.3g} {layer['std']:>10.3g} {layer['zeros']:>7.1%} {layer['dead']:>7.1%}")
    print(*(f"suspicious: {text}" for text in suspicious or ["nothing"]), sep="\n")
    return {"layers": layers, "suspicious": suspicious}


def _measure(layers: Any, name: str, axis: int | None, _module: object, _inputs: object, output: Any) -> None:
    """The hook: measures each output that is a real-valued tensor (of a tuple, as from an LSTM, the first item)."""
    output = output[0] if isinstance(output, tuple) and output else output
    if not isinstance(output, torch.Tensor) or not output.is_floating_point() or output.ndim < 2 or not output.numel():
        return
    calls = sum(known.partition("#")[0] == name for known in layers)
    units = output.float().movedim((1 if output.ndim in (4, 5) else -1) if axis is None else axis, 0).flatten(1)
    layers[f"{name}#{calls + 1}" if calls else name] = {
        "mean": units.mean().item(),
        "std": units.std(correction=0).item(),
        "zeros": (units == 0).float().mean().item(),
        "dead": (units == 0).all(1).float().mean().item(),
        "same": (units == units[:, :1]).all(1).float().mean().item() if units.shape[1] > 1 else 0.0,
        "nonfinite": (~units.isfinite()).float().mean().item(),
    }


def _faults(layer: dict[str, float]) -> list[str]:
    checks = {
        f"{layer['nonfinite']:.2%} of its output is not finite": layer["nonfinite"] > 0,
        f"{layer['zeros']:.0%} of its output is exactly 0": layer["zeros"] > 0.9,
        f"{layer['dead']:.0%} of its units are dead": layer["dead"] > 0.5,
        "its output is the same for every input": layer["same"] == 1,
    }
    return [text for text, found in checks.items() if found]
