"""Features of restarts: do the loss and the learning rate continue where they stopped?"""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.features.context import Computed, Context, first_level, ratio, witness_at
from loganalyst.model import Curve, Feature
from loganalyst.patterntraits import having
from loganalyst.thresholds import feature_limit

ROLE = "train_loss"
MAX_LEVEL_POINTS = 10  # points of a level next to a restart

FEATURES = (
    Feature("resume_count", "int", "restarts", "restarts within the training loss with enough values on both sides", ROLE),
    Feature("resume_step", "int", "step", "first step after the restart at which the loss rose most", ROLE),
    Feature("resume_loss_ratio", "float", "ratio", "level after this restart divided by the level before it (positive losses only)", ROLE),
    Feature("resume_loss_noise", "float", "noise", "rise of the level at this restart, in units of the noise", ROLE),
    Feature("resume_start_share", "float", "share", "how far the loss returned to its level at the start of training (0 = it continues, 1 = training starts over)", ROLE),
    Feature("resume_lr_ratio", "float", "ratio", "learning rate after this restart divided by the rate before it", "learning_rate"),
    Feature("repeated_steps_count", "int", "steps", "steps that the training loss holds twice, because they go back within one session", ROLE),
    Feature("repeated_steps_first", "int", "step", "first of these steps", ROLE),
    Feature("repeated_steps_last", "int", "step", "last of these steps", ROLE),
)  # fmt: skip


def compute(context: Context) -> Computed:
    """All of FEATURES; without a restart only their number."""
    curves = context.with_role(ROLE)
    if not curves:
        return {}
    curve = curves[0]
    return _repeated(curve) | _restarts(context, curve)


def _repeated(curve: Curve) -> Computed:
    """The steps that stand before and after a place where the steps go back. Both values are in the curve."""
    returns = np.flatnonzero((np.diff(curve.steps) < 0) & (np.diff(curve.sessions) == 0)) + 1
    if not 1 <= returns.size <= feature_limit("returns_most"):
        return {"repeated_steps_count": 0}
    both = [np.intersect1d(curve.steps[:at], curve.steps[at:]) for at in returns]
    steps = np.unique(np.concatenate(both))
    if steps.size == 0:
        return {"repeated_steps_count": 0}
    at = int(returns[0])
    return {
        "repeated_steps_count": (int(steps.size), witness_at(curve, at)),
        "repeated_steps_first": int(steps[0]),
        "repeated_steps_last": int(steps[-1]),
    }


def _restarts(context: Context, curve: Curve) -> Computed:
    """Whether the loss and the rate continue at the restart at which the loss rose most."""
    levels = [(i, *_levels(curve, int(i))) for i in restart_places(context, curve)]
    known = [(i, before, after) for i, before, after in levels if before is not None and after is not None]
    if not known:
        return {"resume_count": 0}
    at, before, after = max(known, key=lambda k: k[2] - k[1])
    witness = witness_at(curve, int(at))
    first, noise = first_level(curve.values), context.shape(curve).noise
    return {
        "resume_count": (len(known), witness),
        "resume_step": (witness.step, witness),
        "resume_loss_ratio": after / before if before > 0 and after > 0 else None,
        "resume_loss_noise": ratio(after - before, noise),
        "resume_start_share": (after - before) / (first - before) if first is not None and first > before else None,
        "resume_lr_ratio": _rate_ratio(context, int(curve.steps[at])),
    }


def restart_places(context: Context, curve: Curve) -> NDArray[np.int64]:
    """The positions of the first values after a restart: of a session, or behind a line that names the checkpoint."""
    said = context.run.lines.filter(
        pl.col("pattern").is_in((*having("continued"), *having("optimizer_state_lost"))),
        pl.col("file") == (curve.source or ""),
    )
    places = np.flatnonzero(np.diff(curve.sessions)) + 1
    if said.height and _in_order(curve.lines):
        places = np.union1d(places, np.searchsorted(curve.lines, said["line"].to_numpy(), side="right"))
    return places[(places > 0) & (places < len(curve.values))]


def _in_order(lines: NDArray[np.int64]) -> bool:
    """Whether the lines of the values are known and go forward."""
    return bool((lines >= 0).all() and (np.diff(lines) >= 0).all())


def _levels(curve: Curve, at: int) -> tuple[float | None, float | None]:
    """The levels right before and right after position `at`; None if a side has too few finite points."""
    sides = curve.values[:at], curve.values[at:]
    finite = [side[np.isfinite(side)] for side in sides]
    if min(f.size for f in finite) < feature_limit("jump_side_points"):
        return None, None
    return float(np.median(finite[0][-MAX_LEVEL_POINTS:])), float(np.median(finite[1][:MAX_LEVEL_POINTS]))


def _rate_ratio(context: Context, step: int) -> float | None:
    """The first rate at or after `step` divided by the last rate before it."""
    for curve in context.with_role("learning_rate"):
        after = int(np.searchsorted(curve.steps, step))
        if 0 < after < len(curve.values):
            return ratio(float(curve.values[after]), float(curve.values[after - 1]))
    return None
