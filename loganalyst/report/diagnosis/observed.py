"""What was observed: where NaN began, each symptom next to what was expected, and whether the fault repeats."""

from collections.abc import Iterator

import numpy as np

from loganalyst.model import Curve, Diagnosis
from loganalyst.report.common.rows import Row
from loganalyst.report.common.wording import clean, count
from loganalyst.report.diagnosis.stepwords import named_by

__all__ = ["nan_began", "normally", "observed", "repeats"]

TOTALS = ("train_loss", "grad_norm")  # roles that become NaN with any term of the loss
NO_PARTS = ("val_loss", "val_loss_component", "learning_rate", "loss_scale")


def observed(d: Diagnosis) -> Iterator[Row]:
    """A row for each symptom, with what a healthy run does in its place."""
    return (Row(clean(s.text or s.title, 240), clean(s.expected, 240)) for s in d.symptoms)


def normally(d: Diagnosis) -> str:
    """What was expected in place of the first symptom that the first cause explains; of any, without a cause."""
    explained = d.causes[0].symptoms if d.causes else ()
    found = [s for s in d.symptoms if s.id in explained] or list(d.symptoms)
    return next((clean(s.expected, 240) for s in found if s.expected), "")


def nan_began(d: Diagnosis) -> str:
    """`NaN began in kl_loss at step 4,000`, or `LogBackward0 returned NaN`; empty if no such place is known."""
    operation = d.features.values.get("log_root_operation")
    if operation:
        return f"{clean(operation, 80)} returned NaN"
    first = _first_nonfinite(d)
    if first is None:
        return ""
    own = next(c for c in d.curves if c.metric == first[0])
    # a line without a step of its own has that of the row before it
    when = "after" if np.isfinite(own.values[own.steps == first[1]]).any() else "at"
    return f"NaN began in {clean(first[0], 80)} {when} {named_by(d)(first[1])}"


def _first_nonfinite(d: Diagnosis) -> tuple[str, int] | None:
    """The only part of the loss that was not finite at the first such step."""
    found = d.findings.filter(kind="nonfinite")
    if not found.height:
        return None
    last = found.filter(session=found["session"].max()).select("metric", "step").rows()
    judged = (c for c in d.curves if c.role.judged and c.role.worse != "down" and c.role.name not in NO_PARTS)
    curves = {c.metric: c for c in judged}
    steps = {metric: int(at) for metric, at in last if metric in curves}
    at = min(steps.values(), default=0)
    here = [metric for metric, began in steps.items() if began == at]
    parts = [metric for metric in here if curves[metric].role.name not in TOTALS]
    alone = len(parts) == 1 and (len(here) == 1 or _others_finite(curves, steps, at))
    return (parts[0], at) if alone else None


def _others_finite(curves: dict[str, Curve], steps: dict[str, int], at: int) -> bool:
    """Whether another part of the loss was logged at this step and was finite."""
    others = (c for m, c in curves.items() if steps.get(m, at + 1) > at and c.role.name not in TOTALS)
    return any(bool(np.isfinite(c.values[c.steps == at]).any()) for c in others)


def repeats(d: Diagnosis) -> str:
    """Whether the fault is reproducible, as far as attempts or starts show it; empty for a run that did not fail."""
    if d.restart is None:
        return ""
    attempts = d.restart.attempts
    same = sum(a.same for a in attempts)
    if len(attempts) < 2:
        return "not known: one attempt was read (--history names earlier ones)"
    if same == len(attempts):
        return f"reproducible: all {count(same, 'attempt')} ended by the same root cause"
    return f"intermittent: {same} of {count(len(attempts), 'attempt')} ended by this root cause"
