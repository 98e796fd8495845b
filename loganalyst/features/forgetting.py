"""Features of several held-out accuracies, or losses: one is lost while another gains."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from loganalyst import signals
from loganalyst.features.context import Computed, Context, last_level, ratio, witness_at
from loganalyst.features.judgedloss import other_fall
from loganalyst.features.tasks import MIN_POINTS, ROLE, begins_later, benchmarks, groups, shares
from loganalyst.model import Curve, Feature

LOSS = "val_loss"

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


class _Lost(NamedTuple):
    """A curve that fell from its best value, at position `best`; what the run had gained there (None: its first value may
    come later), and the gain of another one since then.
    """

    curve: Curve
    best: int
    fall: float
    gained: float | None
    gain: float = 0.0
    other: str = ""


def compute(context: Context) -> Computed:
    """All of FEATURES, if at least two held-out accuracies or losses have six values each."""
    return _accuracies(context) | _losses(context)


def _accuracies(context: Context) -> Computed:
    """The fall of one task and the gain of another one, of the group in which the smaller of both is largest."""
    found = [lost for group in groups(context) if (lost := _of_tasks(group))]
    known, scores = benchmarks(context)
    if known and len(scores) > 1:  # a model brings what these measure along
        found.append(_lost(known, scores, shows_begin=False))
    if not found:
        return {}
    lost = max(found, key=lambda lost: (min(lost.fall, lost.gain), lost.fall))
    witness = witness_at(lost.curve, lost.best)
    return {
        "forgotten_share": (lost.fall, witness),
        "forgotten_metric": (lost.curve.metric, witness),
        "forgotten_best": (float(shares(lost.curve)[lost.best]), witness),
        "forgotten_gained": (lost.gained, witness),
        "forgotten_step": (witness.step, witness),
        "forgotten_for_metric": lost.other,
        "forgotten_for_gain": lost.gain,
    }


def _of_tasks(group: Sequence[Curve]) -> _Lost:
    """Where each task begins with its own stage, its first value may be that of the learned task."""
    return _lost(group, group, shows_begin=not begins_later(group))


def _lost(tasks: Sequence[Curve], others: Sequence[Curve], *, shows_begin: bool) -> _Lost:
    """The task that fell most of what the run had taught it, and the gain of another one since then."""
    falls = [_fall(curve, shows_begin=shows_begin) for curve in tasks]
    lost = max(falls, key=lambda lost: (lost.fall if lost.gained is None else min(lost.fall, lost.gained), lost.fall))
    step = int(lost.curve.steps[lost.best])
    gain, other = max((_gain(c, step), c.metric) for c in others if c is not lost.curve)
    return lost._replace(gain=gain, other=other)


def _fall(curve: Curve, *, shows_begin: bool) -> _Lost:
    """The fall from the best to the last level as a share of the best; of few values, between values."""
    x = shares(curve)
    known = np.flatnonzero(np.isfinite(x))
    shape = signals.shape(-x)
    at, best, last = int(known[np.argmax(x[known])]), float(x[known].max()), float(x[known[-1]])
    if known.size >= MIN_POINTS and shape.best is not None and shape.last is not None:
        at, best, last = shape.best_index or 0, -shape.best, -shape.last
    return _Lost(curve, at, ratio(best - last, best) or 0.0, float(x[at] - x[known[0]]) if shows_begin else None)


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


def _gain(curve: Curve, step: int) -> float:
    """Gain of the last level over the level up to `step`."""
    x = shares(curve)
    before, last = last_level(x[curve.steps <= step]), last_level(x)
    return (last or 0.0) - (before or 0.0)
