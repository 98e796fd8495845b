"""The batches at the onset replaced by others: does the fault vanish? And which batch and sample brings it?"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from loganalyst.model import Measured
from loganalyst.replaying.batchtensors import moved, parts, size
from loganalyst.replaying.bench import Bench, Change
from loganalyst.replaying.counterfactual import compared


def run(bench: Bench, seed: int) -> Measured:
    """Outcomes `one_batch` (it brings the fault, and without it there is none), `many_batches`, `stayed`."""
    suspects = _suspects(bench, seed)
    every = _swapped(bench, suspects[0], lambda i: i >= suspects[0])
    name = f"other batches from step {suspects[0] // bench.spec.accumulate:,} on"
    found = compared(bench, seed, {name: Change(batch=every)})
    if found.outcome != "vanished":
        return found
    culprit = _bisected(bench, seed, suspects)
    if culprit is None or _comes(bench, seed, suspects, lambda i: i == culprit):
        return replace(found, outcome="many_batches", text=f"{found.text}; no single batch is behind it")
    step = culprit // bench.spec.accumulate
    bench.train(seed, steps=step - bench.start)
    samples = _samples(bench, moved(bench.spec.batch(culprit), bench.device))
    text = f"{found.text}; replacing that of step {step:,} alone is enough"
    told = f"{text}; the largest gradient in it has {samples}" if samples else text
    values = {**found.values, "step": step, "batch": culprit, "samples": samples}
    return replace(found, outcome="one_batch", text=told, values=values)


def _suspects(bench: Bench, seed: int) -> Sequence[int]:
    """Numbers of the batches up to the first loss that shows the fault, and of a few before it rose: a batch with a
    huge gradient throws the loss of the step after it.
    """
    level, unchanged, accumulate = bench.level(), bench.unchanged(seed), bench.spec.accumulate
    end = level.first(unchanged, bench.limits["reproduced"])
    end = bench.start if end is None else end
    begin = level.first(unchanged, bench.limits["vanished"]) or end
    return range(max(begin - int(bench.limits["before"]), bench.start) * accumulate, (end + 1) * accumulate)


def _swapped(bench: Bench, begin: int, replaced: Callable[[int], bool]) -> Callable[[int], Any]:
    """Batches, some replaced by those read before number `begin`, or after the replay where there are none."""
    beyond = (bench.start + bench.steps) * bench.spec.accumulate

    def batch(i: int) -> Any:
        other = begin - 1 - (i - begin) % begin if begin else i + beyond
        return bench.spec.batch(other if replaced(i) else i)

    return batch


def _comes(bench: Bench, seed: int, suspects: Sequence[int], replaced: Callable[[int], bool]) -> bool:
    """Whether the fault comes with some batches replaced, up to some steps after the suspects."""
    steps = suspects[-1] // bench.spec.accumulate + 1 + int(bench.limits["after"]) - bench.start
    found = bench.train(seed, Change(batch=_swapped(bench, suspects[0], replaced)), steps)
    return bench.rise(found) >= bench.limits["reproduced"]


def _bisected(bench: Bench, seed: int, suspects: Sequence[int]) -> int | None:
    """The one batch that brings the fault where all the others are replaced; None where none does."""
    left = suspects
    while len(left) > 1:
        halves = left[: len(left) // 2], left[len(left) // 2 :]
        half = next((h for h in halves if _alone(bench, seed, suspects, h)), None)
        if half is None:
            return None
        left = half
    return left[0]


def _alone(bench: Bench, seed: int, suspects: Sequence[int], kept: Sequence[int]) -> bool:
    return _comes(bench, seed, suspects, lambda i: i >= suspects[0] and i not in kept)


def _samples(bench: Bench, batch: Any) -> str | None:
    """Which samples of a batch have by far the largest gradient, with the model as it is; None where none stand out."""
    import torch

    bench.model.eval()  # samples apart, where statistics of a batch would mix them
    begin, end = 0, (count := size(batch) or 0)
    with torch.backends.cudnn.flags(enabled=False):  # its recurrent layers have gradients in training only
        while halves := parts(batch, 2):
            norms = [_norm(bench, half) for half in halves]
            high = norms[1] > norms[0]
            if not norms[high] > bench.limits["apart"] * norms[not high]:
                break
            middle = begin + (end - begin) // 2
            begin, end = (middle, end) if high else (begin, middle)
            batch = halves[high]
    if end - begin == count:
        return None
    return f"sample {begin}" if end - begin == 1 else f"samples {begin} to {end - 1}"


def _norm(bench: Bench, batch: Any) -> float:
    """Of the gradient of a batch; one that is not finite is the largest."""
    import torch

    bench.gradients(batch)
    norm = float(torch.nn.utils.get_total_norm(p.grad for p in bench.model.parameters() if p.grad is not None))
    return norm if math.isfinite(norm) else math.inf
