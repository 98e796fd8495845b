"""Replaces the batches at the onset: does the fault vanish? Then finds the batch and the sample that cause it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from loganalyst.model import Measured
from loganalyst.replaying.batchtensors import move, size, split
from loganalyst.replaying.bench import Bench, Change
from loganalyst.replaying.counterfactual import compare


def run(bench: Bench, seed: int) -> Measured:
    """Outcomes `one_batch` (it alone causes the fault), `many_batches`, `stayed`."""
    suspects = _suspects(bench, seed)
    others = _swap(bench, suspects[0], lambda i: i >= suspects[0])
    name = f"other batches from step {suspects[0] // bench.spec.accumulate:,} on"
    found = compare(bench, seed, {name: Change(batch=others)})
    if found.outcome != "vanished":
        return found
    culprit = _bisect(bench, seed, suspects)
    if culprit is None or _fault_occurs(bench, seed, suspects, lambda i: i == culprit):
        return replace(found, outcome="many_batches", text=f"{found.text}; no single batch causes it")
    step = culprit // bench.spec.accumulate
    bench.train(seed, steps=step - bench.start)
    samples = _samples(bench, move(bench.spec.batch(culprit), bench.device))
    text = f"{found.text}; replacing that of step {step:,} alone is enough"
    text += f"; the largest gradient in it has {samples}" if samples else ""
    values = {**found.values, "step": step, "batch": culprit, "samples": samples}
    return replace(found, outcome="one_batch", text=text, values=values)


def _suspects(bench: Bench, seed: int) -> Sequence[int]:
    """The indices of the batches up to the first loss that shows the fault, from a few before the rise: a batch with a
    huge gradient raises the loss of the next step.
    """
    level, unchanged, accumulate = bench.level(), bench.unchanged(seed), bench.spec.accumulate
    end = level.first_rise(unchanged, bench.limits["reproduced"])
    end = bench.start if end is None else end
    begin = level.first_rise(unchanged, bench.limits["vanished"]) or end
    return range(max(begin - int(bench.limits["before"]), bench.start) * accumulate, (end + 1) * accumulate)


def _swap(bench: Bench, begin: int, replaced: Callable[[int], bool]) -> Callable[[int], Any]:
    """Batches of which some are replaced by those before index `begin`, or after the replay if there are none."""
    beyond = (bench.start + bench.steps) * bench.spec.accumulate

    def batch(i: int) -> Any:
        other = begin - 1 - (i - begin) % begin if begin else i + beyond
        return bench.spec.batch(other if replaced(i) else i)

    return batch


def _fault_occurs(bench: Bench, seed: int, suspects: Sequence[int], replaced: Callable[[int], bool]) -> bool:
    """Whether the fault occurs with some batches replaced, up to some steps after the suspects."""
    steps = suspects[-1] // bench.spec.accumulate + 1 + int(bench.limits["after"]) - bench.start
    found = bench.train(seed, Change(batch=_swap(bench, suspects[0], replaced)), steps)
    return bench.rise(found) >= bench.limits["reproduced"]


def _bisect(bench: Bench, seed: int, suspects: Sequence[int]) -> int | None:
    """The batch that causes the fault when all others are replaced, if there is one."""
    left = suspects
    while len(left) > 1:
        halves = left[: len(left) // 2], left[len(left) // 2 :]
        half = next((h for h in halves if _occurs_with_only(bench, seed, suspects, h)), None)
        if half is None:
            return None
        left = half
    return left[0]


def _occurs_with_only(bench: Bench, seed: int, suspects: Sequence[int], kept: Sequence[int]) -> bool:
    return _fault_occurs(bench, seed, suspects, lambda i: i >= suspects[0] and i not in kept)


def _samples(bench: Bench, batch: Any) -> str | None:
    """The samples with by far the largest gradient in a batch, with the current model; None if none stands out."""
    import torch

    bench.model.eval()  # keeps samples independent, which statistics of a batch would mix
    begin, end = 0, (count := size(batch) or 0)
    with torch.backends.cudnn.flags(enabled=False):  # cuDNN's recurrent layers have gradients only in training mode
        while halves := split(batch, 2):
            norms = [_gradient_norm(bench, half) for half in halves]
            high = norms[1] > norms[0]
            if not norms[high] > bench.limits["apart"] * norms[not high]:
                break
            middle = begin + (end - begin) // 2
            begin, end = (middle, end) if high else (begin, middle)
            batch = halves[high]
    if end - begin == count:
        return None
    return f"sample {begin}" if end - begin == 1 else f"samples {begin} to {end - 1}"


def _gradient_norm(bench: Bench, batch: Any) -> float:
    """The gradient norm of a batch; inf if it is not finite."""
    import torch

    bench.gradients(batch)
    norm = float(torch.nn.utils.get_total_norm(p.grad for p in bench.model.parameters() if p.grad is not None))
    return norm if math.isfinite(norm) else math.inf
