"""Features of the contents of checkpoints: non-finite values, frozen tensors, dead rows, the state of the optimiser.
They are known only if the checkpoints were inspected (`diagnose --checkpoints`).
"""

from collections.abc import Sequence

from loganalyst.features.context import Computed, Context
from loganalyst.model import CheckpointScan, Feature, Inspection, TensorStats, Witness

INSPECTED = "checkpoints, inspected with --checkpoints"
TWO_CHECKPOINTS = "two checkpoints of different steps"
STATE = "the optimiser's or scaler's state in the last checkpoint"
FEATURES = (
    Feature("checkpoint_inspected_count", "int", "checkpoints", "checkpoints that were inspected", INSPECTED),
    Feature("checkpoint_unreadable_count", "int", "checkpoints", "unreadable checkpoints among the last ones (0 = none found)", INSPECTED),
    Feature("checkpoint_unreadable_text", "text", "", "the last unreadable checkpoint and the reason", INSPECTED),
    Feature("checkpoint_last_step", "int", "step", "step of the last readable checkpoint", INSPECTED),
    Feature("checkpoint_nonfinite_count", "int", "tensors", "tensors of the model in the last readable checkpoint that hold NaN or Inf (0 = none found)", INSPECTED),
    Feature("checkpoint_nonfinite_share", "float", "share", "share of its floating-point tensors that hold NaN or Inf", INSPECTED),
    Feature("checkpoint_nonfinite_metric", "text", "", "tensor with the largest share of NaN or Inf", INSPECTED),
    Feature("checkpoint_finite_step", "int", "step", "step of the last checkpoint with a finite model", INSPECTED),
    Feature("checkpoint_optimizer_nonfinite_count", "int", "tensors", "tensors of the optimiser state that hold NaN or Inf", STATE),
    Feature("checkpoint_dead_share", "float", "share", "largest share of all-zero rows in a weight of the last checkpoint (without embeddings and tensors that are entirely 0)", INSPECTED),
    Feature("checkpoint_dead_metric", "text", "", "weight with the largest share of all-zero rows", INSPECTED),
    Feature("checkpoint_embedding_share", "float", "share", "share of the parameters that are embeddings", INSPECTED),
    Feature("checkpoint_compared_steps", "int", "steps", "steps between the last two checkpoints", TWO_CHECKPOINTS),
    Feature("checkpoint_frozen_count", "int", "tensors", "tensors that are identical in the last two checkpoints", TWO_CHECKPOINTS),
    Feature("checkpoint_frozen_share", "float", "share", "share of the tensors in both checkpoints that are identical", TWO_CHECKPOINTS),
    Feature("checkpoint_frozen_metric", "text", "", "the first identical tensor", TWO_CHECKPOINTS),
    Feature("checkpoint_reset_count", "int", "tensors", "tensors that were reinitialised: unlike before, while the others are alike", TWO_CHECKPOINTS),
    Feature("checkpoint_runaway_count", "int", "tensors", "tensors that changed far more than the median tensor", TWO_CHECKPOINTS),
    Feature("checkpoint_runaway_metric", "text", "", "the first of these tensors", TWO_CHECKPOINTS),
    Feature("checkpoint_blown_up_count", "int", "tensors", "second moments far above those of the other tensors", STATE),
    Feature("checkpoint_blown_up_metric", "text", "", "the first of these second moments", STATE),
    Feature("checkpoint_eps_share", "float", "share", "share of the second moments v above 0 with sqrt(v) below eps", STATE),
    Feature("checkpoint_loss_scale", "float", "", "loss scale of the scaler", STATE),
)  # fmt: skip


def compute(context: Context) -> Computed:
    """All of FEATURES; nothing if no checkpoint was inspected."""
    found = context.run.inspection
    if found is None:
        return {}
    unreadable = [f for f in found.findings if f.kind == "unreadable"]
    out: Computed = {
        "checkpoint_inspected_count": len(found.checkpoints),
        "checkpoint_unreadable_count": len(unreadable),
    }
    if unreadable:
        out["checkpoint_unreadable_text"] = (
            f"{unreadable[0].path.name} {unreadable[0].text}",
            Witness(file=str(unreadable[0].path)),
        )
    if not found.checkpoints:
        return out
    last = found.checkpoints[-1]
    return out | _model(last, found.checkpoints) | _state(last) | _change(found)


def _model(last: CheckpointScan, scans: Sequence[CheckpointScan]) -> Computed:
    witness = Witness(step=last.step, file=str(last.path))
    tensors = [t for t in last.tensors if "float" in t.dtype]
    bad = sorted((t for t in tensors if t.nonfinite), key=lambda t: -t.nonfinite / t.count)
    out: Computed = {
        "checkpoint_last_step": last.step,
        "checkpoint_nonfinite_count": (len(bad), witness),
        "checkpoint_nonfinite_share": (len(bad) / len(tensors), witness) if tensors else None,
        "checkpoint_embedding_share": last.embedding_share,
        **_dead(tensors, witness),
    }
    if bad:
        out["checkpoint_nonfinite_metric"] = (bad[0].name, witness)
    finite = [s.step for s in scans if s.step is not None and not any(t.nonfinite for t in s.tensors)]
    return out | ({"checkpoint_finite_step": max(finite)} if finite else {})


def _dead(tensors: Sequence[TensorStats], witness: Witness) -> Computed:
    shares = {t.name: t.dead_rows / t.shape[0] for t in tensors if len(t.shape) > 1 and t.shape[0] and not t.embedding}
    some = {name: share for name, share in shares.items() if share < 1}
    if not some:
        return {}
    worst = max(some, key=lambda name: some[name])
    out: Computed = {"checkpoint_dead_share": (some[worst], witness)}
    return out | ({"checkpoint_dead_metric": worst} if some[worst] else {})


def _state(last: CheckpointScan) -> Computed:
    witness = Witness(step=last.step, file=str(last.path))
    out: Computed = {"checkpoint_loss_scale": last.loss_scale}
    moments = [m for o in last.optimizers for m in o.moments]
    if not moments:
        return out
    blown = [name for o in last.optimizers for name in o.blown_up]
    shares = [o.eps_share for o in last.optimizers if o.eps_share is not None]
    out |= {
        "checkpoint_optimizer_nonfinite_count": (sum(m.nonfinite > 0 for m in moments), witness),
        "checkpoint_blown_up_count": (len(blown), witness),
        "checkpoint_eps_share": max(shares) if shares else None,
    }
    return out | ({"checkpoint_blown_up_metric": (blown[0], witness)} if blown else {})


def _change(found: Inspection) -> Computed:
    """The change from the second last checkpoint to the last, the last entry of `Inspection.changes`."""
    if not found.changes:
        return {}
    steps = {scan.path: scan.step for scan in found.checkpoints}
    change = found.changes[-1]
    old, new = steps.get(change.old), steps.get(change.new)
    shared = [t for t in change.tensors if t.verdict not in ("added", "removed", "reshaped")]
    named = {kind: [t.name for t in shared if t.verdict == kind] for kind in ("frozen", "reset", "runaway")}
    out: Computed = {
        "checkpoint_compared_steps": None if old is None or new is None else new - old,
        "checkpoint_frozen_share": len(named["frozen"]) / len(shared) if shared else None,
        **{f"checkpoint_{kind}_count": len(names) for kind, names in named.items()},
    }
    for kind in ("frozen", "runaway"):
        if named[kind]:
            out[f"checkpoint_{kind}_metric"] = named[kind][0]
    return out
