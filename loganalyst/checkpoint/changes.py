"""From one checkpoint to the next: which tensors stood still, ran away, or were made anew."""

from math import inf
from statistics import median

from loganalyst.checkpoint.blocks import Stored
from loganalyst.checkpoint.contents import Contents
from loganalyst.checkpoint.scan import Apart, apart
from loganalyst.checkpoint.steps import Steps
from loganalyst.model import CheckpointChange, TensorChange

RUNAWAY = 10  # times the median change
RESET, KEPT = 0.3, 0.9  # cosine of a tensor with its old self: no longer itself, where the median tensor still is
FEWEST = 256  # values a cosine needs: of few, chance alone makes it large


def between(old: Contents, new: Contents, steps: Steps) -> CheckpointChange:
    """Compare the tensors that hold fractions, by their names."""
    before = {t.name: t for t in old.tensors if t.floating}
    after = {t.name: t for t in new.tensors if t.floating}
    measured = {}
    for name, tensor in before.items():
        if name in after and after[name].shape == tensor.shape:
            measured[name] = apart(tensor, after[name])
        steps.one()
    moved = [a.relative for a in measured.values() if a.relative and not a.equal]
    middle = median(moved) if moved else None
    kept = median([a.cosine for a in measured.values() if a.cosine is not None] or [0.0])
    tensors = [_change(t, measured[name], middle, kept) for name, t in before.items() if name in measured]
    tensors += [TensorChange(n, "reshaped" if n in after else "removed") for n in before if n not in measured]
    tensors += [TensorChange(name, "added") for name in after if name not in before]
    return CheckpointChange(old.path, new.path, tuple(tensors), middle)


def _change(tensor: Stored, a: Apart, middle: float | None, kept: float) -> TensorChange:
    many = tensor.shape != () and max(tensor.shape, default=0) > 0 and _count(tensor) >= FEWEST
    if a.equal:
        return TensorChange(tensor.name, "frozen", 0.0, a.cosine)
    if a.relative is None:
        return TensorChange(tensor.name, "not_finite")
    if many and a.cosine is not None and a.cosine < RESET and kept > KEPT:
        return TensorChange(tensor.name, "reset", a.relative, a.cosine)
    runaway = middle is not None and RUNAWAY * middle < a.relative < inf  # from zeros only, any step is infinite
    return TensorChange(tensor.name, "runaway" if runaway else "changed", a.relative, a.cosine)


def _count(tensor: Stored) -> int:
    size = 1
    for axis in tensor.shape:
        size *= axis
    return size
