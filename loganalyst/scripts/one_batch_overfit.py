"""Can the model memorise one batch? If not, no amount of data will help.

    batch = next(iter(loader))
    one_batch_overfit(model, lambda model, batch: loss_of(model(batch[0]), batch[1]), batch)
    # trains a copy: the model, its gradients and the random state stay as they are

The copy trains with Adam and without dropout layers; pass `rate` and `steps` if your model needs others.
Healthy: the loss falls by more than 0.9 of its first value (or to its floor, as with label smoothing or KL),
and every parameter moves.
Suspicious: it falls by less than 0.4 (labels that do not match their inputs, a loss that ignores the output, a
wrong rate, a model that is too small); NaN or Inf; parameters that never move (frozen, detached, dead).
"""

from collections.abc import Callable
from copy import deepcopy
from math import isfinite
from typing import Any

import torch


def one_batch_overfit(
    model: torch.nn.Module,
    loss_of: Callable[[torch.nn.Module, Any], torch.Tensor],
    batch: Any,
    steps: int = 300,
    rate: float = 1e-3,
) -> dict[str, Any]:
    """The loss of each step, its fall as a share of the first loss, and the parameters that never moved."""
    devices = {p.device for p in model.parameters() if p.is_cuda}
    with torch.random.fork_rng([*devices]), torch.enable_grad():
        copy = deepcopy(model).train()
        for module in copy.modules():
            if isinstance(module, torch.nn.modules.dropout._DropoutNd):
                module.eval()
        trained = {name: p for name, p in copy.named_parameters() if p.requires_grad}
        before = {name: p.detach().clone() for name, p in trained.items()}
        optimizer = torch.optim.Adam(trained.values(), lr=rate)
        losses: list[float] = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = loss_of(copy, batch)
            torch.autograd.backward(loss)
            optimizer.step()
            losses.append(loss.item())
        still = [name for name, p in trained.items() if torch.equal(p, before[name])]
    drop = (losses[0] - losses[-1]) / abs(losses[0]) if losses[0] else 0.0
    suspicious = [f"{name} never moved" for name in still]
    if not all(isfinite(loss) for loss in losses):
        suspicious.append("the loss is not finite")
    elif drop < 0.4:
        suspicious.append(f"the loss fell by only {drop:.1%} in {steps} steps: this batch is not learned")
    print(f"{'step':>6} {'loss':>12}")
    for step in sorted({*range(0, steps, max(1, steps // 10)), steps - 1}):
        print(f"{step:>6} {losses[step]:>12.5g}")
    print(f"fell by {drop:.1%}", *(f"suspicious: {text}" for text in suspicious or ["nothing"]), sep="\n")
    return {"losses": losses, "drop": drop, "still": still, "suspicious": suspicious}
