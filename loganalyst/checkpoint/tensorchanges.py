"""Changes from one checkpoint to the next: tensors that stayed frozen, ran away, or were reinitialised."""

from math import inf, prod
from statistics import median

from loganalyst.checkpoint.contents import Contents
from loganalyst.checkpoint.scanprogress import Steps
from loganalyst.checkpoint.tensorblocks import Stored
from loganalyst.checkpoint.tensorscan import Difference, difference
from loganalyst.model import CheckpointChange, TensorChange
from loganalyst.thresholds import checkpoint_limit


def compare(old: Contents, new: Contents, steps: Steps) -> CheckpointChange:
    """Compare floating-point tensors by name."""
    before = {t.name: t for t in old.tensors if t.floating}
    after = {t.name: t for t in new.tensors if t.floating}
    measured = {}
    for name, tensor in before.items():
        if name in after and after[name].shape == tensor.shape:
            measured[name] = difference(tensor, after[name])
        steps.advance()
    moved = [a.relative for a in measured.values() if a.relative and not a.equal]
    median_change = median(moved) if moved else None
    median_cosine = median([a.cosine for a in measured.values() if a.cosine is not None] or [0.0])
    tensors = [_change(before[name], d, median_change, median_cosine) for name, d in measured.items()]
    tensors += [TensorChange(n, "reshaped" if n in after else "removed") for n in before if n not in measured]
    tensors += [TensorChange(name, "added") for name in after if name not in before]
    return CheckpointChange(old.path, new.path, tuple(tensors), median_change)


def _change(tensor: Stored, a: Difference, median_change: float | None, median_cosine: float) -> TensorChange:
    if a.equal:
        return TensorChange(tensor.name, "frozen", 0.0, a.cosine)
    if a.relative is None:
        return TensorChange(tensor.name, "not_finite")
    if _is_reset(tensor, a.cosine, median_cosine):
        return TensorChange(tensor.name, "reset", a.relative, a.cosine)
    limit = inf if median_change is None else checkpoint_limit("runaway") * median_change
    runaway = limit < a.relative < inf  # any step away from all zeros is infinite
    return TensorChange(tensor.name, "runaway" if runaway else "changed", a.relative, a.cosine)


def _is_reset(tensor: Stored, cosine: float | None, median_cosine: float) -> bool:
    """Whether a tensor lost its direction while the median tensor kept it; a short one may do so by chance."""
    if cosine is None or prod(tensor.shape) < checkpoint_limit("reset_values"):
        return False
    return cosine < checkpoint_limit("reset") and median_cosine > checkpoint_limit("kept")
