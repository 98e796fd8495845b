"""Features of a curriculum: when a stage began, and how likely it is by chance that the trouble follows so closely."""

import re

import numpy as np
from numpy.typing import NDArray

from loganalyst.curves import axes
from loganalyst.features.alignment import chance
from loganalyst.features.context import Computed, Context, witness_at
from loganalyst.model import Curve, Feature, Witness
from loganalyst.thresholds import feature_limit

NEEDS = "a metric of the curriculum's stage, or its setting"
TROUBLE = ("nonfinite", "divergence", "level_up")
FEATURES = (
    Feature("curriculum_change_count", "int", "events", "changes of the curriculum's stage, logged or configured (0 = it never changed)", NEEDS),
    Feature("curriculum_change_step", "int", "step", "last change before the training loss went wrong, otherwise the first change", NEEDS),
    Feature("curriculum_name", "text", "", "metric or setting that shows the stage", NEEDS),
    Feature("trouble_curriculum_chance", "float", "probability", "probability that a random step follows a change of the curriculum as closely as the step where the training loss went wrong", NEEDS),
)  # fmt: skip
# metrics that count stages: "curriculum/stage", "train/difficulty", "data_stage"
_STAGE = re.compile(
    r"(^|[/_.])(curriculum|difficulty|data_?stage|stage|phase)([/_.](stage|level|phase|step|difficulty))?$", re.I
)
# settings: "curriculum_switch_epoch", "data.curriculum.start_step"
_SETTING = re.compile(r"(^|[._])curriculum[._]?(switch|start|change|next|stage)?[._]?(?P<unit>epoch|step)s?$", re.I)


def compute(context: Context) -> Computed:
    """All of FEATURES; not known where neither a metric nor a setting shows a curriculum."""
    losses = context.with_role("train_loss")
    if not losses:
        return {}
    name, steps, witness = (
        _logged_changes(context) or _configured_change(context, losses[0]) or ("", np.empty(0), Witness())
    )
    if not name:
        return {}
    out: Computed = {"curriculum_change_count": (steps.size, witness), "curriculum_name": (name, witness)}
    if not steps.size:
        return out
    trouble = _trouble(context)
    if trouble is None:
        return out | {"curriculum_change_step": (int(steps[0]), witness)}
    share, before = chance(trouble, steps, losses[0].steps)
    at = int(steps[0]) if before is None else before
    return out | {"curriculum_change_step": (at, witness), "trouble_curriculum_chance": (share, witness)}


def _trouble(context: Context) -> float | None:
    """The step at which the training loss first went wrong."""
    steps = [context.findings_on(kind, "train_loss")["step"].min() for kind in TROUBLE]
    return min((float(s) for s in steps if isinstance(s, int)), default=None)


def _logged_changes(context: Context) -> tuple[str, NDArray[np.float64], Witness] | None:
    """The changes of a metric that counts stages."""
    for curve in (c for c in context.curves if _STAGE.search(c.metric) and len(c.values)):
        known = np.isfinite(curve.values)
        values, steps = curve.values[known], curve.steps[known]
        if np.unique(values).size <= feature_limit("stages_most"):
            changes = np.flatnonzero(np.diff(values)) + 1
            witness = witness_at(curve, int(np.flatnonzero(known)[changes[0]])) if changes.size else witness_at(curve)
            return curve.metric, steps[changes].astype(float), witness
    return None


def _configured_change(context: Context, loss: Curve) -> tuple[str, NDArray[np.float64], Witness] | None:
    """The step of a setting such as `curriculum_switch_epoch`."""
    per_epoch = axes.steps_per_epoch(loss, context.with_role("epoch"))
    for key, number, origin in context.run.config.select("key", "number", "origin").iter_rows():
        found = _SETTING.search(key)
        factor = per_epoch if found and found["unit"].lower() == "epoch" else 1.0
        if found and number is not None and factor is not None:
            return key, np.array([number * factor]), Witness(file=origin)
    return None
