"""Findings on checkpoints in plain words, the worst first."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from loganalyst.model import (
    CheckpointChange,
    CheckpointScan,
    InspectionFinding,
    InspectionKind,
    OptimizerScan,
    TensorStats,
)
from loganalyst.thresholds import checkpoint_limit

Severity = Literal["unusable", "warning", "note"]

SEVERITY_ORDER = {"unusable": 0, "warning": 1, "note": 2}
MAX_NAMED = 3  # tensors named in a sentence; the finding itself lists all


def find(scans: Sequence[CheckpointScan], changes: Iterable[CheckpointChange]) -> tuple[InspectionFinding, ...]:
    """All findings of all checkpoints."""
    findings = [f for scan in scans for f in _scan_findings(scan)]
    findings += [f for change in changes for f in _change_findings(change)]
    return tuple(sorted(findings, key=lambda f: SEVERITY_ORDER[f.severity]))


def _scan_findings(scan: CheckpointScan) -> Iterator[InspectionFinding]:
    bad = _worst_first(t for t in scan.tensors if t.nonfinite)
    if bad:
        text = f"{_tensor_count(len(bad))} of the model {_held_kinds(bad)}: {_listed([_with_count(t) for t in bad])}"
        yield InspectionFinding("nonfinite", "unusable", scan.path, text, tuple(t.name for t in bad))
    for optimizer in scan.optimizers:
        yield from _optimizer_findings(scan, optimizer)
    if scan.loss_scale is not None and scan.loss_scale < checkpoint_limit("scale_collapsed"):
        text = f"the loss scale has collapsed to {scan.loss_scale:g}: gradients in half precision kept overflowing"
        yield InspectionFinding("scale_collapsed", "warning", scan.path, text)
    yield from _row_findings(scan)
    if scan.embedding_share is not None and scan.embedding_share > checkpoint_limit("embedding_share"):
        text = f"{scan.embedding_share:.0%} of the parameters are embeddings: little is left for the model itself"
        yield InspectionFinding("embedding_share", "note", scan.path, text)
    low = [t for t in scan.tensors if _collapsed(t)]
    if low:
        parts = [f"{t.name} ({t.effective_rank:.1f} of {_full_rank(t):,})" for t in low]
        text = f"effective rank near zero in {_tensor_count(len(low))}: {_listed(parts)}"
        yield InspectionFinding("low_rank", "warning", scan.path, text, tuple(t.name for t in low))
    if scan.unread:
        text = f"not read, because reading would run code: {_listed(scan.unread)}"
        yield InspectionFinding("not_read", "note", scan.path, text)


def _collapsed(t: TensorStats) -> bool:
    known = t.effective_rank is not None and _full_rank(t) >= checkpoint_limit("low_rank_side")
    return known and (t.effective_rank or 0.0) < checkpoint_limit("low_rank") * _full_rank(t)


def _full_rank(t: TensorStats) -> int:
    return min(t.shape[0], t.count // t.shape[0])


def _row_findings(scan: CheckpointScan) -> Iterator[InspectionFinding]:
    """Dead outputs. Zero rows in an embedding table are unseen words; a weight of only zeros may be new."""
    dead = sorted(
        (t for t in scan.tensors if 0 < t.dead_rows < t.shape[0] and not t.embedding),
        key=lambda t: -t.dead_rows / t.shape[0],
    )
    if dead:
        parts = [f"{t.name} ({t.dead_rows:,} of {t.shape[0]:,})" for t in dead]
        text = f"rows of zeros (outputs that never change) in {_tensor_count(len(dead))}: {_listed(parts)}"
        yield InspectionFinding("dead_rows", "warning", scan.path, text, tuple(t.name for t in dead))
    blank = tuple(t.name for t in scan.tensors if len(t.shape) > 1 and t.dead_rows == t.shape[0] > 0)
    if blank:
        text = f"{_tensor_count(len(blank))} with only zeros, dead or not yet trained: {_listed(blank)}"
        yield InspectionFinding("zeros", "note", scan.path, text, blank)


def _optimizer_findings(scan: CheckpointScan, o: OptimizerScan) -> Iterator[InspectionFinding]:
    bad = _worst_first(m for m in o.moments if m.nonfinite)
    if bad:
        counts = _listed([_with_count(t) for t in bad])
        text = f"{_tensor_count(len(bad))} of the optimiser {_held_kinds(bad)}: {counts}"
        yield InspectionFinding("nonfinite_optimizer", "unusable", scan.path, text, tuple(t.name for t in bad))
    if o.blown_up:
        text = f"second moments far above those of the other tensors, as after huge gradients: {_listed(o.blown_up)}"
        yield InspectionFinding("blown_up", "warning", scan.path, text, o.blown_up)
    if o.eps_share is not None and o.eps_share > checkpoint_limit("eps_dominated"):
        text = f"for {o.eps_share:.0%} of the parameters eps {o.eps:g}, not the gradient, sets the size of Adam's step"
        yield InspectionFinding("eps_dominated", "warning", scan.path, text)


def _change_findings(change: CheckpointChange) -> Iterator[InspectionFinding]:
    names = {kind: tuple(t.name for t in change.tensors if t.verdict == kind) for kind in _CHANGES}
    for kind, (severity, words) in _CHANGES.items():
        if names[kind] and not (kind == "frozen" and len(names[kind]) == len(change.tensors)):
            text = f"since {change.old.name}, {words}: {_listed(names[kind])}"
            yield InspectionFinding(kind, severity, change.new, text, names[kind])
    if change.tensors and len(names["frozen"]) == len(change.tensors):
        text = f"no tensor differs from {change.old.name}: the model learned nothing between the two"
        yield InspectionFinding("frozen", "warning", change.new, text, names["frozen"])
    lost = tuple(t.name for t in change.tensors if t.verdict in ("removed", "reshaped"))
    if lost:
        text = f"{_tensor_count(len(lost))} of {change.old.name} are gone or of another shape: {_listed(lost)}"
        yield InspectionFinding("missing", "note", change.new, text, lost)


_CHANGES: dict[InspectionKind, tuple[Severity, str]] = {
    "reset": ("warning", "reinitialised (unlike before, while the other tensors are alike)"),
    "runaway": ("warning", "changed far more than the median tensor"),
    "frozen": ("note", "did not change at all (frozen on purpose, or without a gradient)"),
}


def _worst_first(tensors: Iterable[TensorStats]) -> list[TensorStats]:
    return sorted(tensors, key=lambda t: -t.nonfinite / max(t.count, 1))


def _held_kinds(tensors: Sequence[TensorStats]) -> str:
    kinds = [
        word for word, some in (("NaN", any(t.nan for t in tensors)), ("Inf", any(t.inf for t in tensors))) if some
    ]
    return f"hold{'s' if len(tensors) == 1 else ''} {' and '.join(kinds)}"


def _with_count(t: TensorStats) -> str:
    return f"{t.name} ({t.nonfinite:,} of {t.count:,})"


def _tensor_count(n: int) -> str:
    return f"{n:,} tensor{'' if n == 1 else 's'}"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_NAMED:,} more" if len(names) > MAX_NAMED else ""
    return ", ".join(names[:MAX_NAMED]) + more
