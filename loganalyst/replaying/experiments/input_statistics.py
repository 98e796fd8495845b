"""Examines the replayed batches: NaN, range, labels, repeated rows."""

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from statistics import mean, median
from typing import Any

import numpy as np

from loganalyst.model import Measured
from loganalyst.replaying.batchtensors import leaves
from loganalyst.replaying.bench import Bench
from loganalyst.replaying.experiment import INCONCLUSIVE

Limits = Mapping[str, float]
Finding = tuple[str, int | None] | None  # a description, and the batch that has it
FEW_ROWS = 4  # a batch of at most this many rows may hold a single class by chance


@dataclass(frozen=True)
class _Batch:
    """Statistics of one batch: for each tensor the number of non-finite values and the finite range; the frequency of
    each class; a key of each row.
    """

    index: int
    nonfinite: dict[str, int]
    low: dict[str, float]
    high: dict[str, float]
    classes: Counter[int]
    rows: tuple[int, ...]


def run(bench: Bench, _seed: int) -> Measured:
    """Outcomes `nonfinite`, `extreme`, `constant`, `same_batch`, `sorted`, `one_class`, `repeated`, `unscaled`,
    `balanced`, `sound`; the first that applies.
    """
    first = bench.start * bench.spec.accumulate
    count = min(bench.steps * bench.spec.accumulate, int(bench.limits["batches"]))
    if not callable(bench.spec.batches):
        count = min(count, len(bench.spec.batches))  # further batches are repeats
    seen = [_batch(first + i, bench.spec.batch(first + i)) for i in range(count)]
    values: dict[str, float | str | None] = {"batches": len(seen), "classes": len(_classes(seen))}
    if not any(b.rows or b.nonfinite for b in seen):
        return Measured(INCONCLUSIVE, "the batches hold no tensors that can be examined", values=values)
    for outcome, check in CHECKS.items():
        found = check(seen, bench.limits)
        if found:
            text, index = found
            step = {} if index is None else {"step": index // bench.spec.accumulate}
            return Measured(outcome, text, True, values | step, start=bench.start)
    sound = "balanced" if _classes(seen) else "sound"
    return Measured(sound, f"nothing is unusual in {len(seen)} batches", False, values, start=bench.start)


def _batch(index: int, batch: Any) -> _Batch:
    tensors = {name: t.detach().cpu() for name, t in leaves(batch) if t.numel()}
    real = {name: t.double() for name, t in tensors.items() if t.is_floating_point()}
    finite = {name: t[t.isfinite()] for name, t in real.items()}
    return _Batch(
        index,
        {name: t.numel() - finite[name].numel() for name, t in real.items()},
        {name: float(t.min()) for name, t in finite.items() if t.numel()},
        {name: float(t.max()) for name, t in finite.items() if t.numel()},
        _labels(tensors),
        _keys(tensors),
    )


def _labels(tensors: Mapping[str, Any]) -> Counter[int]:
    """The class of each row: from the last tensor with one integer (or 0 and 1) per row; empty if there is none."""
    for tensor in reversed([*tensors.values()][1:]):
        if tensor.dim() and tensor.numel() == len(tensor):
            flat = tensor.flatten()
            if not flat.is_floating_point() or bool(((flat == 0) | (flat == 1)).all()):
                return Counter(flat.long().tolist())
    return Counter()


def _keys(tensors: Mapping[str, Any]) -> tuple[int, ...]:
    """A hash of each row over all tensors: the sum of its words times fixed random odd numbers."""
    sizes = {len(t) if t.dim() else 0 for t in tensors.values()}
    if len(sizes) != 1 or not (count := sizes.pop()):
        return ()
    total = np.zeros(count, np.uint64)  # sums wrap around at 2^64
    for i, tensor in enumerate(tensors.values()):
        numbers = tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor  # numpy has no bfloat16
        raw = np.ascontiguousarray(numbers.numpy()).reshape(count, -1).view(np.uint8)
        words = np.pad(raw, ((0, 0), (0, -raw.shape[1] % 4))).view(np.uint32).astype(np.uint64)
        factors = np.random.default_rng(i).integers(1, 1 << 63, words.shape[1], np.uint64) | np.uint64(1)
        total += (words * factors).sum(1, dtype=np.uint64)
    return tuple(total.tolist())


def _classes(seen: list[_Batch]) -> Counter[int]:
    return sum((b.classes for b in seen), Counter[int]())


def _nonfinite(seen: list[_Batch], _limits: Limits) -> Finding:
    for b in seen:
        for name, count in b.nonfinite.items():
            if count:
                return f"{count:,} values of {name} in batch {b.index:,} are not finite", b.index
    return None


def _extreme(seen: list[_Batch], limits: Limits) -> Finding:
    for name in seen[0].high:
        sizes = {b.index: _size(b, name) for b in seen}
        usual = median(sizes.values())
        worst = max(sizes, key=sizes.__getitem__)
        if usual > 0 and sizes[worst] > limits["extreme"] * usual:
            text = f"{name} reaches {sizes[worst]:.3g} in batch {worst:,}, and {usual:.3g} in the median batch"
            return text, worst
    return None


def _constant(seen: list[_Batch], _limits: Limits) -> Finding:
    name = next(iter(seen[0].high), None)
    low = min((b.low.get(name or "", math.inf) for b in seen), default=math.inf)
    if name is None or low != max(b.high.get(name, math.inf) for b in seen) or len(seen[0].rows) < FEW_ROWS:
        return None
    return f"all of {name} is {low:g}, in each of {len(seen)} batches", None


def _same_batch(seen: list[_Batch], limits: Limits) -> Finding:
    same = sum(bool(a.rows) and a.rows == b.rows for a, b in pairwise(seen))
    if not same or same < limits["same"] * (len(seen) - 1):
        return None
    return f"{same} of {len(seen) - 1} batches are the same as the one before, row by row", None


def _sorted(seen: list[_Batch], limits: Limits) -> Finding:
    shares = [max(b.classes.values()) / b.classes.total() for b in seen if b.classes.total() > FEW_ROWS]
    whole = _classes(seen)
    if not shares or mean(shares) < limits["sorted"] or max(whole.values()) > limits["mixed"] * whole.total():
        return None
    text = f"{mean(shares):.0%} of a batch are of one class, of which all batches together hold {len(whole)}"
    return text, None


def _one_class(seen: list[_Batch], limits: Limits) -> Finding:
    whole = _classes(seen)
    if whole.total() < limits["rows"]:
        return None
    (label, most), least = whole.most_common(1)[0], min(whole.values())
    if most <= min(limits["class"] * whole.total(), limits["rarer"] * least):
        return None
    return f"{most:,} of {whole.total():,} rows are of class {label}, {least:,} of the rarest of {len(whole)}", None


def _repeated(seen: list[_Batch], limits: Limits) -> Finding:
    """Repeats within a batch; across batches a new epoch repeats rows."""
    rows, again = sum(len(b.rows) for b in seen), sum(len(b.rows) - len(set(b.rows)) for b in seen)
    if again <= limits["repeated"] * rows:
        return None
    return f"{again:,} of {rows:,} rows were in the same batch already", None


def _unscaled(seen: list[_Batch], limits: Limits) -> Finding:
    name = next(iter(seen[0].high), None)
    usual = median(_size(b, name) for b in seen) if name is not None else 0.0
    return (f"{name} reaches {usual:.3g}: it is not scaled", None) if usual > limits["large"] else None


def _size(batch: _Batch, name: str) -> float:
    return max(abs(batch.low.get(name, 0.0)), abs(batch.high.get(name, 0.0)))


CHECKS: dict[str, Callable[[list[_Batch], Limits], Finding]] = {
    "nonfinite": _nonfinite,
    "extreme": _extreme,
    "constant": _constant,
    "same_batch": _same_batch,
    "sorted": _sorted,
    "one_class": _one_class,
    "repeated": _repeated,
    "unscaled": _unscaled,
}
