"""Which layers get gradients, and how large they are.

    loss.backward()
    gradient_norms(model)    # after backward, before clipping, optimizer.step() and zero_grad()
    optimizer.step()

With a GradScaler call `scaler.unscale_(optimizer)` first.
Healthy: the layers lie within a factor of 100 of each other, and less than half of a layer's gradient is exactly 0.
Suspicious: a layer without any gradient; NaN or Inf; a layer below 1e-5 and more than 10,000 times smaller than the
largest; a total below 1e-4 while the loss is still high; more than 0.7 of a layer's gradient exactly 0, which means
dead units (in an embedding only the rows that the batch does not use, which is no fault).
"""

from collections import defaultdict
from math import isfinite
from typing import Any

import torch


def gradient_norms(model: torch.nn.Module) -> dict[str, Any]:
    """Norm and share of exact zeros of each layer's gradient, in the order of the parameters; and the total norm."""
    gradients: dict[str, list[torch.Tensor]] = defaultdict(list)
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            parts = gradients[name.rpartition(".")[0] or "(model)"]
            if parameter.grad is not None:
                parts.append(parameter.grad.detach().to_dense().float().flatten())
    layers: dict[str, dict[str, Any]] = {name: _layer(parts) for name, parts in gradients.items()}
    tables = {name for name, m in model.named_modules() if isinstance(m, (torch.nn.Embedding, torch.nn.EmbeddingBag))}
    norms = [layer["norm"] for layer in layers.values() if layer["norm"] is not None]
    total = sum(norm**2 for norm in norms) ** 0.5
    largest = max(filter(isfinite, norms), default=0.0)
    faults = {name: _fault(layer, largest, name in tables) for name, layer in layers.items()}
    suspicious = [f"{name}: {fault}" for name, fault in faults.items() if fault]
    if total < 1e-4:
        suspicious.append(f"the whole gradient is {total:.2g}")
    print(f"{'layer':<48} {'norm':>10} {'zeros':>7}")
    for name, layer in layers.items():
        print(
            f"{name:<48} " + ("no gradient" if not layer["size"] else f"{layer['norm']:>10.3g} {layer['zeros']:>7.1%}")
        )
    print(f"{'total':<48} {total:>10.3g}", *(f"suspicious: {text}" for text in suspicious or ["nothing"]), sep="\n")
    return {"layers": layers, "total": total, "suspicious": suspicious}


def _layer(parts: list[torch.Tensor]) -> dict[str, Any]:
    """The figures of a layer's gradients; a layer without any has the size 0 and no norm."""
    if not parts:
        return {"size": 0, "norm": None, "zeros": None}
    flat = torch.cat(parts)
    return {"size": len(flat), "norm": flat.norm().item(), "zeros": (flat == 0).float().mean().item()}


def _fault(layer: dict[str, Any], largest: float, embedding: bool) -> str:
    if not layer["size"]:
        return "no gradient reaches it"
    if not isfinite(layer["norm"]):
        return "its gradient is not finite"
    if layer["norm"] < 1e-5 and layer["norm"] * 10_000 < largest:
        return f"its gradient is {layer['norm']:.2g}, and the largest is {largest:.2g}"
    return f"{layer['zeros']:.0%} of its gradient is exactly 0" if layer["zeros"] > 0.7 and not embedding else ""
