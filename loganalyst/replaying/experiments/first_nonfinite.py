"""Finds where the first NaN or Inf arises: the batch, a weight, an operation of a module, or the backward pass."""

import math
from dataclasses import dataclass
from typing import Any

from loganalyst.model import Measured
from loganalyst.replaying.batchtensors import finite, leaves
from loganalyst.replaying.bench import Bench, Change
from loganalyst.replaying.experiment import INCONCLUSIVE
from loganalyst.replaying.provenance import OperationWatch, Origin

OPERATIONS = {
    "variance": ("var", "std", "var_mean", "std_mean"),
    "division": ("log", "log2", "log10", "log1p", "div", "reciprocal", "sqrt", "rsqrt", "pow", "remainder", "fmod"),
}


def run(bench: Bench, seed: int) -> Measured:
    """Outcomes `input`, `weights`, `division`, `variance`, `operation`, `half_precision`, `ran_up`, `backward`."""
    unchanged = bench.unchanged(seed)
    series = {"unchanged": unchanged.losses}
    step = _first_nonfinite_step(bench, unchanged.losses, unchanged.norms)
    if step is None:
        text = f"every loss and gradient is finite over {len(unchanged.losses)} steps"
        return Measured(INCONCLUSIVE, text, reproduced=False, series=series, start=bench.start)
    outcome, text, values = _trace(bench, seed, step)
    return Measured(outcome, f"at step {step:,} {text}", True, {"step": step, **values}, series, bench.start)


def _first_nonfinite_step(bench: Bench, losses: list[float], norms: list[float]) -> int | None:
    """The first step with a non-finite loss, or with a non-finite gradient if no scaler handles that."""
    for i, (loss, norm) in enumerate(zip(losses, norms, strict=True)):
        if not math.isfinite(loss) or (bench.spec.scaler is None and not math.isfinite(norm)):
            return bench.start + i
    return None


@dataclass(frozen=True)
class _WatchedBatch:
    """One batch of a step, watched in the forward and the backward pass."""

    loss: float
    forward: Origin | None
    backward: Origin | None
    gradients: tuple[str, ...]  # parameters whose gradient is not finite
    sizes: dict[tuple[str, str, int], float]

    @property
    def origin(self) -> Origin | None:
        return self.forward or self.backward


def _trace(bench: Bench, seed: int, step: int) -> tuple[str, str, dict[str, Any]]:
    bench.train(seed, steps=step - bench.start)
    weight = next((name for name, p in bench.model.named_parameters() if not finite(p)), None)
    if weight:
        return "weights", f"{weight} is not finite before the step", {"tensor": weight}
    for index in range(step * bench.spec.accumulate, (step + 1) * bench.spec.accumulate):
        batch = bench.batch(index)
        wrong = next((name for name, tensor in leaves(batch) if not finite(tensor)), None)
        if wrong:
            return "input", f"the batch holds values that are not finite, in {wrong}", {"tensor": wrong}
        seen = _watch_batch(bench, batch)
        if not math.isfinite(seen.loss) or seen.gradients:
            return _diagnose(bench, seed, batch, seen)
    return INCONCLUSIVE, "it did not occur again while it was watched", {}


def _watch_batch(bench: Bench, batch: Any, change: Change | None = None) -> _WatchedBatch:
    bench.optimizer.zero_grad(set_to_none=True)
    with OperationWatch(bench.model) as watch:
        total, _ = bench.forward(batch, change or Change())
        forward, loss = watch.origin(total), float(total.detach())
        watch.first = None
        if math.isfinite(loss):
            total.backward()
    bad = tuple(n for n, p in bench.model.named_parameters() if p.grad is not None and not finite(p.grad))
    return _WatchedBatch(loss, forward, watch.first, bad, watch.sizes)


def _diagnose(bench: Bench, seed: int, batch: Any, seen: _WatchedBatch) -> tuple[str, str, dict[str, Any]]:
    """The kind of origin. The same batch is also watched in float32, and at the checkpoint."""
    if bench.spec.precision:
        whole = _watch_batch(bench, batch, Change(precision="float32"))
        if math.isfinite(whole.loss) and not whole.gradients:
            return "half_precision", f"{_describe(seen)}; in float32 it is finite", _values(seen)
    bench.restore(seed)
    at_checkpoint = _watch_batch(bench, batch)
    origin = seen.origin and seen.origin.root
    grown = origin.size / max(at_checkpoint.sizes.get(origin.key, math.nan), 1e-30) if origin else math.nan
    values = {**_values(seen), "grown": grown}
    if grown >= bench.limits["grown"]:
        return "ran_up", f"{_describe(seen)}; its input was {grown:.3g} times that at the checkpoint", values
    return (_kind(seen.forward.root) if seen.forward else "backward"), _describe(seen), values


def _kind(origin: Origin) -> str:
    name = origin.operation.split(".")[0].strip("_")
    return next((kind for kind, names in OPERATIONS.items() if name in names), "operation")


def _describe(seen: _WatchedBatch) -> str:
    if seen.origin is None:
        return f"the gradient of {', '.join(seen.gradients[:3])} is not finite, and no operation is its origin"
    root = seen.origin.root
    way = "" if seen.forward else " in the backward pass"
    place = "the loss" if root.module == "loss" else root.module
    made = f"{root.operation} in {place}{way} gave {root.kind} of inputs up to {root.size:.3g}"
    return made + (f", of which {seen.origin.operation} made {seen.origin.kind}" if seen.origin is not root else "")


def _values(seen: _WatchedBatch) -> dict[str, Any]:
    if seen.origin is None:
        return {"gradient": seen.gradients[0] if seen.gradients else None}
    origin = seen.origin.root
    return {
        "module": origin.module,
        "operation": origin.operation,
        "kind": seen.origin.kind,
        "input_size": origin.size,
        "gradient": seen.gradients[0] if seen.gradients else None,
    }
