"""The run in a few facts, for every report: how far, how long, best and last values, what is not logged."""

from typing import Any

import numpy as np

from loganalyst.model import Curve, Run

HEADLINE = ("train_loss", "val_loss", "val_accuracy", "val_score", "reward", "train_accuracy")
# What each role makes possible; a role that is not logged costs these diagnoses.
COVERS = {
    "train_loss": "nothing about the optimisation can be judged",
    "val_loss": "overfitting cannot be judged",
    "learning_rate": "the schedule cannot be judged",
    "grad_norm": "exploding and vanishing gradients cannot be judged",
}


def summarise(run: Run, curves: list[Curve]) -> dict[str, Any]:
    """Facts by name: `last_step`, `epochs`, `duration_s`, `metrics` (best and last by headline role), `checkpoints`,
    `not_logged` (role -> what that costs). A fact that is not known is None.
    """
    steps = [int(c.steps.max()) for c in curves if len(c.steps) and c.role.judged]
    epochs = [float(np.nanmax(c.epochs)) for c in curves if np.isfinite(c.epochs).any()]
    roles = {c.role.name for c in curves}
    other = roles & {"reward", "discriminator_loss", "generator_loss"}  # such runs are judged by these
    told = {"val_loss"} if roles & {"val_accuracy", "val_loss_component"} else set[str]()
    told |= {"train_loss"} if roles & {"loss_component"} else set[str]()
    costs = {r: w for r, w in COVERS.items() if not other and r not in roles | told and f"{r}_squared" not in roles}
    return {
        "last_step": max(steps, default=None),
        "epochs": max(epochs, default=None),
        "duration_s": (run.ended - run.started).total_seconds() if run.started and run.ended else None,
        "metrics": [
            _headline(c) for role in HEADLINE for c in curves if c.role.name == role and np.isfinite(c.values).any()
        ][:6],
        "checkpoints": run.checkpoints.height,
        "not_logged": costs if curves else {},
    }


def _headline(curve: Curve) -> dict[str, Any]:
    """First, last and best value of one curve with their steps; harm up: lowest is best."""
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
