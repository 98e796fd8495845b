"""When each judged metric left its usual course, which one moved first, and how sure the order is.

An onset is known within an interval: after the last usual point, and no later than the first point clearly beyond. The
interval is wide where points are rare, noise is high or the curve departs slowly.
"""

from collections.abc import Sequence

import numpy as np

from loganalyst.features.context import Computed, Context
from loganalyst.features.onsetplacing import bracket, step_axis
from loganalyst.features.run import COUNTERS
from loganalyst.model import Curve, Feature, Onset, Witness
from loganalyst.thresholds import feature_limit

HARMFUL_KINDS = ("nonfinite", "divergence", "level_up")  # kinds of findings that are for the worse
# roles of which a run has only one metric
UNIQUE_ROLES = ("train_loss", "grad_norm", "grad_norm_squared", "learning_rate")

NEEDS = "two judged metrics"
FEATURES = (
    Feature("onset_count", "int", "metrics", "judged metrics that left their usual course for the worse (0 = none found)", NEEDS),
    Feature("onset_first_metric", "text", "", "the metric that moved first", NEEDS),
    Feature("onset_first_role", "text", "", "role of this metric", NEEDS),
    Feature("onset_first_step", "int", "step", "step of its onset", NEEDS),
    Feature("onset_first_confidence", "float", "probability", "probability that it moved before all others, given how often each was logged", NEEDS),
    Feature("train_loss_onset_step", "int", "step", "first step at which the training loss is no longer on its usual course", "train_loss"),
    Feature("rate_first_confidence", "float", "probability", "probability that the learning rate jumped before the training loss moved", "learning_rate"),
    Feature("rate_first_step", "int", "step", "step at which the learning rate jumped", "learning_rate"),
    Feature("grad_first_confidence", "float", "probability", "probability that the gradient norm moved before the training loss", "grad_norm"),
    Feature("grad_first_steps", "int", "steps", "steps from the onset of the gradient norm to that of the training loss (negative: it came after)", "grad_norm"),
    Feature("term_first_confidence", "float", "probability", "probability that a term of the loss moved before the training loss, or with it and before all other terms", "loss_component"),
    Feature("term_first_metric", "text", "", "the term that moved first", "loss_component"),
    Feature("term_first_step", "int", "step", "step at which this term moved", "loss_component"),
    Feature("data_first_confidence", "float", "probability", "probability that the data time rose before the run became slower", "data_time"),
    Feature("data_first_step", "int", "step", "step at which the data time rose", "data_time"),
)  # fmt: skip
_TERMS = ("loss_component", "recon_loss", "kl", "quantisation_loss")
_GRADIENTS = ("grad_norm", "grad_norm_squared", "layer_grad_norm")
_SPEED = ("throughput", "step_time")


def compute(context: Context) -> Computed:
    """All of FEATURES; those of a pair only if both moved."""
    found = onsets(context)
    loss = _first_with_role(found, "train_loss")
    alone: Computed = {} if loss is None else {"train_loss_onset_step": (loss.step, _witness(loss))}
    if len([c for c in context.curves if c.role.judged and len(c.values)]) < 2:
        return alone
    if not found:
        return {"onset_count": 0}
    first, others = found[0], found[1:]
    out: Computed = alone | {
        "onset_count": len(found),
        "onset_first_metric": (first.metric, _witness(first)),
        "onset_first_role": first.role,
        "onset_first_step": (first.step, _witness(first)),
    }
    if others:
        out["onset_first_confidence"] = min(first.before(other) for other in others)
    return out | _compared_with_loss(found) | _compared_with_speed(found)


def _compared_with_loss(found: Sequence[Onset]) -> Computed:
    """The onsets of rate, gradient and terms compared with that of the training loss."""
    loss = _first_with_role(found, "train_loss")
    if loss is None:
        return {}
    out: Computed = {}
    if rate := _first_with_role(found, "learning_rate"):
        out |= {"rate_first_confidence": (rate.before(loss), _witness(rate)), "rate_first_step": rate.step}
    if grad := _first_with_role(found, *_GRADIENTS):
        out |= {"grad_first_confidence": (grad.before(loss), _witness(grad)), "grad_first_steps": loss.step - grad.step}
    if term := _first_with_role(found, *_TERMS):
        rivals = [o for o in found if o.role in _TERMS and o.metric != term.metric]
        together = 2 * term.before(loss)  # 0.5 means at the same time, as a total moves with its term
        out |= {
            "term_first_confidence": (min(0.99, together, *(term.before(o) for o in rivals)), _witness(term)),
            "term_first_metric": term.metric,
            "term_first_step": term.step,
        }
    return out


def _compared_with_speed(found: Sequence[Onset]) -> Computed:
    """The onset of the data time compared with that of the speed."""
    data, speed = _first_with_role(found, "data_time"), _first_with_role(found, *_SPEED)
    if data is None or speed is None:
        return {}
    return {"data_first_confidence": (data.before(speed), _witness(data)), "data_first_step": data.step}


def _first_with_role(found: Sequence[Onset], *roles: str) -> Onset | None:
    return next((o for o in found if o.role in roles), None)


def _witness(onset: Onset) -> Witness:
    return Witness(onset.metric, onset.step, onset.file)


def onsets(context: Context) -> tuple[Onset, ...]:
    """The first onset of every judged metric that had one, in order, on the step axis of the metric with most points.

    A metric that counts its steps in another unit is placed by its times; without times it is left out. Of a role with
    one metric per run, the earliest of its logged copies counts.
    """
    main = _main(context.curves)
    if main is None:
        return ()
    curves = {c.metric: c for c in context.curves}
    found = [
        _onset(curves[row["metric"]], row, main)
        for row in context.findings.sort("step", maintain_order=True).iter_rows(named=True)
        if row["kind"] in HARMFUL_KINDS and row["metric"] in curves
    ]
    first: dict[str, Onset] = {}
    for onset in sorted((o for o in found if o is not None), key=lambda o: (o.step, o.metric)):
        first.setdefault(onset.role if onset.role in UNIQUE_ROLES else onset.metric, onset)
    return tuple(first.values())


def _main(curves: Sequence[Curve]) -> Curve | None:
    """The judged curve with most points."""
    judged = [c for c in curves if c.role.judged and c.role.name not in COUNTERS and len(c.values)]
    return max(judged, key=lambda c: len(c.values), default=None)


def _onset(curve: Curve, row: dict[str, object], main: Curve) -> Onset | None:
    """The onset that belongs to the finding `row`."""
    at = int(np.searchsorted(curve.steps, int(str(row["step"]))))
    if at >= curve.steps.size or curve.steps[at] != row["step"]:
        return None
    rate = curve.role.name == "learning_rate"
    if rate and at < feature_limit("warm_up") * curve.steps.size:
        return None
    calm, low, high = (at - 1, at - 1, at) if row["kind"] == "nonfinite" else bracket(curve, at)
    axis = step_axis(curve, main)
    if axis is None:
        return None
    return Onset(
        metric=curve.metric,
        role=curve.role.name,
        kind=str(row["kind"]),
        session=int(curve.sessions[at]),
        step=int(axis[min(calm + 1, axis.size - 1)]),
        low=float(axis[low] if low >= 0 else axis[0] - 1),
        high=float(axis[high]),
        found=int(curve.steps[at]),
        file=curve.source,
    )
