"""Features of passes over the data: how many, what happens at the end of one, and whether the order repeats."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from loganalyst.curves import axes
from loganalyst.features.context import Computed, Context, median, witness_at
from loganalyst.model import Curve, Feature

Values = NDArray[np.float64]
NEEDS = "epoch"
FEATURES = (
    Feature("run_epochs", "float", "epochs", "passes over the data so far", NEEDS),
    Feature("epoch_points", "int", "points", "logged training losses per pass (median)", NEEDS),
    Feature("epoch_drop_share", "float", "share", "share of the fall of the training loss after its first pass that happens at the ends of passes (a staircase suggests memorised samples)", NEEDS),
    Feature("epoch_drop_relative", "float", "share", "fall of the training loss at the end of a pass relative to its level (median over passes)", NEEDS),
    Feature("epoch_repeat", "float", "correlation", "correlation of the changes of the training loss between neighbouring passes (near 1: the samples come in the same order)", NEEDS),
)  # fmt: skip
MIN_PASS_POINTS = 12  # points of a pass with a course of its own
EDGE_SHARE = 0.1  # of a pass: the stretch taken as its start or its end


def compute(context: Context) -> Computed:
    """All of FEATURES; nothing where no epochs are logged."""
    curves, counters = context.with_role("train_loss"), context.with_role("epoch")
    done = [_done(c.epochs) for c in curves if np.isfinite(c.epochs).any()]
    counted = [_done(c.values) for c in counters if np.isfinite(c.values).any()]
    out: Computed = {"run_epochs": max(done or counted, default=None)}
    return out | (_passes(curves[0], axes.epoch_ends(curves[:1], counters)) if curves else {})


def _done(epochs: Values) -> float:
    """The passes done. Whole numbers from 0 on are those of the passes, so the last one is counted too."""
    known = epochs[np.isfinite(epochs)]
    numbered = known.min() == 0 and bool((known == np.floor(known)).all())
    return float(known.max()) + numbered


def _passes(curve: Curve, ends: Values) -> Computed:
    """The features of whole passes."""
    finite = np.isfinite(curve.values)
    x, cuts = curve.values[finite], np.searchsorted(curve.steps[finite], ends, side="right")
    whole = [p for p in np.split(x, cuts) if p.size]
    size = int(np.median([p.size for p in whole])) if whole else 0
    if cuts.size < 2 or size < MIN_PASS_POINTS:
        return {}
    edge = max(3, int(EDGE_SHARE * size))
    inside = [c for c in cuts if c >= edge and c + edge <= x.size]
    levels, after = (np.array([median(x[c + a : c + b]) for c in inside]) for a, b in ((-edge, 0), (0, edge)))
    drops = levels - after
    if drops.size < 2:
        return {}
    fall = float(levels[0] - median(x[-edge:]))
    return {
        "epoch_points": size,
        "epoch_drop_share": float(drops.sum() / fall) if fall > 0 else None,
        "epoch_drop_relative": (float(np.median(drops / np.abs(levels))) if levels.all() else None, witness_at(curve)),
        "epoch_repeat": _repeat([p for p in whole if p.size >= MIN_PASS_POINTS]),
    }


def _repeat(passes: list[Values]) -> float | None:
    """Median correlation of neighbouring passes in their changes from point to point, so that trends do not count."""
    found = []
    for one, other in pairwise(passes):
        n = min(one.size, other.size)
        a, b = np.diff(one[:n]), np.diff(other[:n])
        if n >= MIN_PASS_POINTS and a.std() > 0 and b.std() > 0:
            found.append(float(np.corrcoef(a, b)[0, 1]))
    return float(np.median(found)) if found else None
