"""Features of several held-out accuracies, or losses: one is lost while another gains."""

import numpy as np

from loganalyst.features.context import Computed, Context, last_level, ratio, witness_at
from loganalyst.features.validation import other_fall, share
from loganalyst.model import Curve, Feature

ROLE, UNNAMED_ROLE, LOSS = "val_accuracy", "train_accuracy", "val_loss"
MIN_POINTS = 6  # finite values of each accuracy or loss

FEATURES = (
    Feature("forgotten_share", "float", "share", "largest fall of one of several held-out accuracies from its highest level, as a share of that level", ROLE),
    Feature("forgotten_metric", "text", "", "the accuracy that fell", ROLE),
    Feature("forgotten_best", "float", "share", "highest level of this accuracy", ROLE),
    Feature("forgotten_gained", "float", "share", "its highest level minus its first value: what this run had taught it", ROLE),
    Feature("forgotten_step", "int", "step", "step at which it was highest", ROLE),
    Feature("forgotten_for_metric", "text", "", "held-out accuracy that gained most since then", ROLE),
    Feature("forgotten_for_gain", "float", "share", "gain of that other accuracy", ROLE),
    Feature("forgotten_loss_rise", "float", "ratio", "largest rise of one of several held-out losses: its last level divided by its lowest", LOSS),
    Feature("forgotten_loss_metric", "text", "", "the loss that rose", LOSS),
    Feature("forgotten_loss_step", "int", "step", "step at which it was lowest", LOSS),
    Feature("forgotten_loss_for_metric", "text", "", "held-out loss that fell most since then", LOSS),
    Feature("forgotten_loss_for_fall", "float", "share", "fall of that other loss since then, as a share of its level at that time", LOSS),
)  # fmt: skip


def compute(context: Context) -> Computed:
    """All of FEATURES, if at least two held-out accuracies or losses have six values each."""
    return _accuracies(context) | _losses(context)


def _accuracies(context: Context) -> Computed:
    curves = _long(context, ROLE)
    if len(curves) < 2:  # accuracies of several tasks need not say that they are held out: `acc_task_a`, `acc_task_b`
        curves = _long(context, UNNAMED_ROLE)
    if len(curves) < 2:
        return {}
    lost = [(_fall(context, c), c) for c in curves]
    fall, curve = max(lost, key=lambda pair: pair[0])
    best = context.shape(curve).best_index or 0
    witness = witness_at(curve, best)
    gains = [(_gain(c, int(curve.steps[best])), c.metric) for c in curves if c is not curve]
    gain, other = max(gains)
    return {
        "forgotten_share": (fall, witness),
        "forgotten_metric": (curve.metric, witness),
        "forgotten_best": (float(share(curve)[best]), witness),
        "forgotten_gained": (float(share(curve)[best] - share(curve)[np.isfinite(curve.values)][0]), witness),
        "forgotten_step": (witness.step, witness),
        "forgotten_for_metric": other,
        "forgotten_for_gain": gain,
    }


def _long(context: Context, role: str) -> list[Curve]:
    return [c for c in context.with_role(role) if np.isfinite(c.values).sum() >= MIN_POINTS]


def _losses(context: Context) -> Computed:
    """Losses of different held-out sets, such as `eval_old_loss` and `eval_new_loss`."""
    curves = [c for c in context.with_role(LOSS) if np.isfinite(c.values).sum() >= MIN_POINTS and (c.values > 0).all()]
    if len(curves) < 2:
        return {}
    rise, curve = max(((_rise(context, c), c) for c in curves), key=lambda pair: pair[0])
    witness = witness_at(curve, context.shape(curve).best_index or 0)
    fall, other = other_fall(curve, curves)
    return {
        "forgotten_loss_rise": (rise, witness),
        "forgotten_loss_metric": (curve.metric, witness),
        "forgotten_loss_step": (witness.step, witness),
        "forgotten_loss_for_metric": other,
        "forgotten_loss_for_fall": fall,
    }


def _rise(context: Context, curve: Curve) -> float:
    shape = context.shape(curve)
    return ratio(shape.last, shape.best) or 1.0


def _fall(context: Context, curve: Curve) -> float:
    """Fall from the best to the last level as a share of the best (the shape is that of the negated values)."""
    shape = context.shape(curve)
    return ratio((shape.last or 0.0) - (shape.best or 0.0), -(shape.best or 0.0)) or 0.0


def _gain(curve: Curve, step: int) -> float:
    """Gain of the last level over the level up to `step`."""
    shares = share(curve)
    before, last = last_level(shares[curve.steps <= step]), last_level(shares)
    return (last or 0.0) - (before or 0.0)
