"""What uses the memory, and whether its use grows from step to step.

    batches = iter(loader)
    memory(model, optimizer, lambda: training_step(next(batches)), steps=20)
    # real training steps: forward, backward, optimizer.step(); they train the model

On a GPU it reads the allocator of the model's device, else the resident memory of the process (on Linux; other systems
report no growth). The first two steps are left out, because they create gradients and optimiser state.
Healthy: the memory after each step is the same; the peak stays below 0.9 of the device.
Suspicious: it rises in more than 0.8 of the steps and by more than 0.01 in total (tensors kept in a list, a loss summed
without item()); a peak above 0.9 of the device (a longer batch will not fit).
"""

import os
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch


def memory(
    model: torch.nn.Module, optimizer: torch.optim.Optimizer, step: Callable[[], object], steps: int = 20
) -> dict[str, Any]:
    """Bytes of weights, buffers, gradients and optimiser state; bytes in use after each step; the device's peak."""
    device = next(model.parameters()).device
    cuda = device.type == "cuda"
    if cuda:
        torch.cuda.reset_peak_memory_stats(device)
    held = []
    for _ in range(steps):
        step()
        held.append(torch.cuda.memory_allocated(device) if cuda else _resident())
    state = (value for values in optimizer.state.values() for value in values.values() if torch.is_tensor(value))
    result: dict[str, Any] = {
        "weights": _bytes(model.parameters()),
        "buffers": _bytes(model.buffers()),
        "gradients": _bytes(p.grad for p in model.parameters() if p.grad is not None),
        "optimizer": _bytes(state),
        "peak": torch.cuda.max_memory_reserved(device) if cuda else None,
        "device": torch.cuda.get_device_properties(device).total_memory if cuda else None,
    }
    later = held[2:]
    rising = sum(after > before for before, after in pairwise(later)) / max(len(later) - 1, 1)
    growth = later[-1] / later[0] - 1 if later and later[0] else 0.0
    suspicious = []
    if rising > 0.8 and growth > 0.01:
        suspicious.append(f"memory rose in {rising:.0%} of the steps, by {growth:.1%} in {len(later) - 1} steps")
    if cuda and result["peak"] > 0.9 * result["device"]:
        suspicious.append(f"the peak is {result['peak'] / result['device']:.0%} of the device")
    for name, value in [*result.items(), ("held at first", held[0]), ("held at last", held[-1])]:
        print(f"{name:<14} " + (f"{value / 2**20:>12.2f} MiB" if value else "-"))
    print(*(f"suspicious: {text}" for text in suspicious or ["nothing"]), sep="\n")
    return {**result, "held": held, "rising": rising, "growth": growth, "suspicious": suspicious}


def _bytes(tensors: Iterable[torch.Tensor]) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def _resident() -> int:
    """Bytes of resident memory of the process; 0 if this system does not report them."""
    file = Path("/proc/self/statm")
    return int(file.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if file.exists() else 0
