"""A few facts of the run for every report: how far, how long, best and last values, and what is not logged."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from loganalyst.features.judgedscores import is_one_sided
from loganalyst.model import Curve, Run, TrainingKind

HEADLINE_ROLES = (
    *("train_loss", "val_loss", "val_accuracy", "val_score", "val_error_rate"),
    *("reward", "skill_rating", "sample_distance", "train_accuracy"),
)
# The diagnoses that are impossible if a role is not logged
COST_IF_MISSING = {
    "train_loss": "nothing about the optimisation can be judged",
    "val_loss": "overfitting cannot be judged",
    "learning_rate": "the schedule cannot be judged",
    "grad_norm": "exploding and vanishing gradients cannot be judged",
}
OF_WEIGHTS = {"learning_rate", "grad_norm"}  # roles that trees do not have: no schedule, and no gradients of weights


def summarise(run: Run, curves: Sequence[Curve], kind: TrainingKind | None = None) -> dict[str, Any]:
    """Facts by name of a run of this kind of training; an unknown fact is None.

    `last_step`, `epochs`, `duration_s`, `steps_per_second`, `metrics` (best and last value for each headline role),
    `checkpoints` (how many), `checkpoint` (the ones that matter), `not_logged` (role -> cost).
    """
    judged_curves, others = (
        [c for c in curves if len(c.steps) and c.role.judged is judged] for judged in (True, False)
    )
    steps = [int(c.steps.max()) for c in judged_curves or [c for c in others if c.role.name == "other"]]
    epochs = [float(np.nanmax(c.epochs)) for c in curves if np.isfinite(c.epochs).any()]
    roles = {c.role.name for c in curves}
    other = roles & {
        "reward",
        "skill_rating",
        "discriminator_loss",
        "generator_loss",
    }  # such runs are judged by other metrics
    covered = {"val_loss"} if roles & {"val_accuracy", "val_loss_component"} else set[str]()
    covered |= {"train_loss"} if roles & {"loss_component"} else set[str]()
    covered |= OF_WEIGHTS if kind is not None and kind.kind == "boosting" else set[str]()
    costs = {
        r: w
        for r, w in COST_IF_MISSING.items()
        if not other and r not in roles | covered and f"{r}_squared" not in roles
    }
    known = sorted((c for c in curves if np.isfinite(c.values).any()), key=is_one_sided)
    headlines = [_headline(c) for role in HEADLINE_ROLES for c in known if c.role.name == role][:6]
    return {
        "last_step": max(steps, default=None),
        "epochs": max(epochs, default=None),
        "duration_s": (run.ended - run.started).total_seconds() if run.started and run.ended else None,
        "steps_per_second": _pace(curves),
        "metrics": headlines,
        "checkpoints": run.checkpoints.height,
        "checkpoint": _checkpoint(run.checkpoints, headlines),
        "not_logged": costs if curves else {},
    }


def _pace(curves: Sequence[Curve]) -> float | None:
    """Steps per second of the longest judged curve over its last session; None if its steps do not increase."""
    longest = max((c for c in curves if c.role.judged), key=lambda c: len(c.steps), default=None)
    if longest is None:
        return None
    last = (longest.sessions == longest.sessions[-1]) & np.isfinite(longest.times)
    steps, times = longest.steps[last], longest.times[last]
    counted = last.sum() > 1 and times[-1] > times[0] and steps[-1] > steps[0]
    return float((steps[-1] - steps[0]) / (times[-1] - times[0])) if counted else None


def _checkpoint(saved: pl.DataFrame, headlines: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The last readable checkpoint, the one nearest to the best value (of held-out data first), one named best, and the
    unreadable ones. None if there is no checkpoint.
    """
    if not saved.height:
        return None
    usable = saved.filter(pl.col("readable").fill_null(True))
    named = usable.filter(pl.col("path").str.contains(r"(?i)(?:^|[/_.-])best(?:[/_.-]|$)"))["path"]
    placed = usable.drop_nulls("step").sort("step")
    best = min(headlines, key=lambda m: not m["role"].startswith("val_"), default=None)
    near = placed.sort((pl.col("step") - best["best_step"]).abs()).head(1) if best else placed.clear()
    return {
        "last_step": placed["step"].max(),
        "best_metric": best["metric"] if best else None,
        "best_step": best["best_step"] if best else None,
        "nearest_step": near["step"].first(),
        "nearest": near["path"].first(),
        "named_best": named.first(),
        "unreadable": saved.filter(pl.col("readable").not_())["path"].to_list(),
    }


def _headline(curve: Curve) -> dict[str, Any]:
    """First, last and best value of one curve with their steps. The lowest value is best if higher is worse."""
    finite = np.flatnonzero(np.isfinite(curve.values))
    x = curve.values[finite]
    best = int(np.argmax(x) if curve.role.worse == "down" else np.argmin(x))
    return {
        "metric": curve.metric,
        "role": curve.role.name,
        "points": len(curve.values),
        "first": float(x[0]),
        "last": float(curve.values[-1]),
        "last_step": int(curve.steps[-1]),
        "best": float(x[best]),
        "best_step": int(curve.steps[finite[best]]),
    }
