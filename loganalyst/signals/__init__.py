"""Signals: what one curve shows. Arrays in, findings out, one file per kind of signal; this page only puts them in
order.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from loganalyst.model import ChangePoint, Curve, Role, table
from loganalyst.signals.bends import trend
from loganalyst.signals.curveshape import Shape, shape
from loganalyst.signals.direction import Worse, direction
from loganalyst.signals.divergence import divergence
from loganalyst.signals.fallinglaw import Convergence, convergence
from loganalyst.signals.gap import Gap, gap
from loganalyst.signals.levels import levels
from loganalyst.signals.nonfinite import nonfinite
from loganalyst.signals.periodic import periodic
from loganalyst.signals.plateau import plateau
from loganalyst.signals.preparedcurve import Prepared, prepare
from loganalyst.signals.quantum import quantum
from loganalyst.signals.quicklook import suspicious
from loganalyst.signals.rate_drop import drops, explained, rate_drop
from loganalyst.signals.rateschedule import Schedule, schedule
from loganalyst.signals.restart import restart
from loganalyst.signals.robuststatistics import as_floats
from loganalyst.signals.segments import MIN_SERIES_POINTS, slows_down
from loganalyst.signals.shortseries import MAX_SERIES_POINTS, plain
from loganalyst.signals.slope import slope
from loganalyst.signals.spikes import spikes
from loganalyst.signals.splitpoint import Parting, parting
from loganalyst.signals.variance import variance
from loganalyst.threads import side_by_side

__all__ = [
    "Convergence",
    "Gap",
    "Parting",
    "Schedule",
    "Shape",
    "change_points",
    "convergence",
    "find",
    "gap",
    "parting",
    "quantum",
    "schedule",
    "shape",
]

MAX_EFFECT = 1e9  # effects are clipped here (a step in a curve without any noise)
MAX_ONSET_DISTANCE = 0.02  # share of the curve within which a jump and a rise to the end are the same change
MAX_EDGE_SPIKE = 1.5  # a spike at a jump, of up to this many of its heights, is the edge of the jump
MAX_CLIMB_AFTER_JUMP = 0.3  # share of a jump that the curve may still climb afterwards, if it was no divergence
MAX_FULL_CURVES = 40  # curves of a run that get the full pipeline without the quick look


def change_points(
    values: ArrayLike,
    steps: ArrayLike | None = None,
    role: str | Role | None = None,
    *,
    worse: Worse = None,
    rate: ArrayLike | None = None,
) -> list[ChangePoint]:
    """All changes in one curve, in order of their index.

    `values`: n numbers of any kind (NaN and ±Inf are findings, not errors). `steps`: n numbers, used only to see
    restarts. `role`: a role name of rules/roles.yaml or a Role. `worse` ("up" or "down") overrides its direction of
    harm. `rate`: the learning rate at each of the n points, used only to see it drop. Numbers that were not
    rounded have the same result for a·values with a > 0. Raises ValueError for an unknown role name or direction.

    >>> import numpy as np
    >>> from loganalyst import signals
    >>> noise = 0.01 * np.random.default_rng(0).normal(size=400)
    >>> values = np.where(np.arange(400) < 250, 1.0, 2.0) + noise
    >>> [(change.kind, change.index) for change in signals.change_points(values, role="train_loss")]
    [('level_up', 250)]
    """
    towards = direction(role, worse)
    x = as_floats(values)
    found = nonfinite(x)
    if steps is not None:
        found += restart(as_floats(steps)[: x.size])
    p = prepare(x, -1 if towards == "down" else 1)
    lowered = () if rate is None else np.searchsorted(p.where, drops(as_floats(rate)[: x.size])).tolist()
    changes = _changes(p, [i for i in lowered if i < p.y.size], judged=towards is not None)
    short = MIN_SERIES_POINTS <= p.y.size <= MAX_SERIES_POINTS
    if role is None and worse is None and short and not slows_down(p.level):
        changes = plain(p, changes)
    found += [_placed(c, p) for c in changes]
    return sorted(found, key=lambda c: (c.index, c.kind))


def _changes(p: Prepared, lowered: Sequence[int], *, judged: bool) -> list[ChangePoint]:
    """The changes that the detectors find among the finite points, each reported once."""
    steps = levels(p)
    peaks = [s for s in spikes(p) if not any(_is_edge(s, step) for step in steps)]
    found = peaks + periodic(peaks)
    end = [c for c in divergence(p) if not _is_jump(p, c, steps)] if judged else []
    limit = end[0].index - 2 * p.size if end else p.y.size
    shifts = [c for c in steps + variance(p) if c.index < limit]
    busy = [(s.index - 3 * p.size, (s.end or 0) + 3 * p.size) for s in peaks if (s.end or 0) > s.index]
    found += [c for c in shifts if not any(low <= c.index <= high for low, high in busy)]
    gains = rate_drop(p, lowered)
    found = gains + [c for c in found if not explained(c, gains, p.y.size)]
    if not judged:
        return found
    near = p.y.size // 10
    known = [c.index for c in found + end if c.kind in ("level_up", "level_down", "divergence")]
    bends = [c for c in slope(p) if c.index < limit and all(abs(c.index - i) > near for i in known)]
    last = bends + (end or plateau(p))
    return found + [c for c in last if not explained(c, gains, p.y.size)]


def _is_edge(spike: ChangePoint, step: ChangePoint) -> bool:
    """Whether the spike is the edge of the jump: a running median follows a jump late."""
    close = abs(spike.index - step.index) <= 2
    return step.kind == "level_up" and close and spike.effect <= MAX_EDGE_SPIKE * step.effect


def _is_jump(p: Prepared, end: ChangePoint, steps: Sequence[ChangePoint]) -> bool:
    """Whether the rise to the end is one jump to a stable level, and no divergence."""
    near = [s for s in steps if s.kind == "level_up" and abs(s.index - end.index) <= MAX_ONSET_DISTANCE * p.y.size]
    after = p.level[near[-1].index // p.size + 1 :] if near else p.level[:0]
    if after.size < MIN_SERIES_POINTS:
        return False
    jump, climb = near[-1].effect * float(p.noise[near[-1].index]), trend(after) * after.size
    return abs(climb) <= MAX_CLIMB_AFTER_JUMP * jump


def _placed(c: ChangePoint, p: Prepared) -> ChangePoint:
    """A change in the finite points, moved to the positions of the given array."""
    end = None if c.end is None else int(p.where[c.end])
    return ChangePoint(int(p.where[c.index]), end, c.kind, min(c.effect, MAX_EFFECT), c.significance)


def find(curves: Sequence[Curve]) -> tuple[pl.DataFrame, dict[str, int]]:
    """The `findings` table of all judged curves, and how many were read in "full", "screened" only, or "skipped".

    The first 40 curves (one of every role before a second of any) and those that a quick look marks get the full
    pipeline. `index` of a finding counts the finite points before it.

    >>> import loganalyst as la
    >>> findings, coverage = la.signals.find(la.diagnose("fixtures/runs/nan-lr").curves)
    >>> coverage["full"], findings.filter(metric="train/loss", kind="nonfinite")["step"].to_list()
    (8, [660])
    """
    judged = _one_of_each_role_first([c for c in curves if c.role.judged and c.values.size])
    others = judged[MAX_FULL_CURVES:]
    full = judged[:MAX_FULL_CURVES] + [c for c in others if suspicious(c.values, -1 if c.role.worse == "down" else 1)]
    rates = [c for c in curves if c.role.name == "learning_rate" and c.values.size]
    sizes = [curve.values.size for curve in full]
    found = side_by_side(
        lambda c: _rows(c, _rate_at(c, rates[0]) if rates else None),
        full,
        values=sum(sizes),
        largest=max(sizes, default=0),
    )
    rows = [row for curve_rows in found for row in curve_rows]
    coverage = {"full": len(full), "screened": len(judged) - len(full), "skipped": len(curves) - len(judged)}
    return table("findings", {k: [r[k] for r in rows] for k in rows[0]} if rows else None), coverage


def _one_of_each_role_first(curves: list[Curve]) -> list[Curve]:
    """The first curve of every role, then the second of every role, and so on."""
    seen: Counter[str] = Counter()
    turns = []
    for curve in curves:
        turns.append(seen[curve.role.name])
        seen[curve.role.name] += 1
    return [curve for _, curve in sorted(zip(turns, curves, strict=True), key=lambda pair: pair[0])]


def _rate_at(curve: Curve, rate: Curve) -> NDArray[np.float64]:
    """The learning rate last logged at or before each point of a curve."""
    if np.array_equal(rate.steps, curve.steps) and (np.diff(rate.steps) > 0).all():
        return rate.values
    return rate.values[np.maximum(np.searchsorted(rate.steps, curve.steps, side="right") - 1, 0)]


def _rows(curve: Curve, rate: ArrayLike | None) -> list[dict[str, object]]:
    """One row per change, placed by the curve at that index."""
    finite_before = np.cumsum(np.isfinite(curve.values)) - np.isfinite(curve.values)
    out: list[dict[str, object]] = []
    for c in change_points(curve.values, curve.steps, curve.role, rate=rate):
        line = int(curve.lines[c.index])
        out.append(
            {
                "session": int(curve.sessions[c.index]),
                "metric": curve.metric,
                "role": curve.role.name,
                "kind": c.kind,
                "index": int(finite_before[c.index]),
                "step": int(curve.steps[c.index]),
                "end_step": None if c.end is None else int(curve.steps[c.end]),
                "effect": c.effect,
                "significance": c.significance,
                "file": curve.source,
                "line": line if line >= 0 else None,
            }
        )
    return out
