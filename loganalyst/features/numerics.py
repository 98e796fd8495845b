"""Features of mixed precision: the loss scale and skipped steps."""

import numpy as np

from loganalyst.features.context import Computed, Context, ratio, seen
from loganalyst.model import Feature

FEATURES = (
    Feature("loss_scale_points", "int", "points", "logged values of the loss scale", "loss_scale"),
    Feature("loss_scale_first", "float", "", "its first value", "loss_scale"),
    Feature("loss_scale_last", "float", "", "its last value", "loss_scale"),
    Feature("loss_scale_last_ratio", "float", "ratio", "last against highest value", "loss_scale"),
    Feature("loss_scale_halvings", "int", "events", "how often it fell from one value to the next", "loss_scale"),
    Feature("loss_scale_min_step", "int", "step", "where it first reached its lowest value", "loss_scale"),
    Feature(
        "skipped_steps", "float", "steps", "skipped optimiser steps, or iterations with NaN, as logged", "skipped_steps"
    ),
)


def compute(context: Context) -> Computed:
    """All of FEATURES; a group without its metric is left out."""
    out: dict[str, object] = {}
    if curves := context.of("loss_scale"):
        curve = curves[0]
        finite = np.flatnonzero(np.isfinite(curve.values))
        if finite.size:
            x = curve.values[finite]
            low = seen(curve, int(finite[np.argmin(x)]))
            out |= {
                "loss_scale_points": x.size,
                "loss_scale_first": float(x[0]),
                "loss_scale_last": (float(x[-1]), seen(curve, int(finite[-1]))),
                "loss_scale_last_ratio": ratio(float(x[-1]), float(x.max())),
                "loss_scale_halvings": int((np.diff(x) < 0).sum()),
                "loss_scale_min_step": (low.step, low),
            }
    if curves := context.of("skipped_steps"):
        worst = max(curves, key=lambda c: float(np.nanmax(c.values, initial=0.0)))
        out["skipped_steps"] = (float(np.nanmax(worst.values, initial=0.0)), seen(worst, len(worst.values) - 1))
    return out  # type: ignore[return-value]
