"""From one checkpoint to the next: which tensors stood still, ran away, or were made anew."""

from math import inf, prod
from statistics import median

from loganalyst.checkpoint.contents import Contents
from loganalyst.checkpoint.scanprogress import Steps
from loganalyst.checkpoint.tensorblocks import Stored
from loganalyst.checkpoint.tensorscan import Apart, apart
from loganalyst.model import CheckpointChange, TensorChange
from loganalyst.thresholds import checkpoint_limit


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
    many = prod(tensor.shape) >= checkpoint_limit("reset_values")
    if a.equal:
        return TensorChange(tensor.name, "frozen", 0.0, a.cosine)
    if a.relative is None:
        return TensorChange(tensor.name, "not_finite")
    if many and a.cosine is not None and a.cosine < checkpoint_limit("reset") and kept > checkpoint_limit("kept"):
        return TensorChange(tensor.name, "reset", a.relative, a.cosine)
    far = inf if middle is None else checkpoint_limit("runaway") * middle
    runaway = far < a.relative < inf  # from zeros only, any step is infinite
    return TensorChange(tensor.name, "runaway" if runaway else "changed", a.relative, a.cosine)
