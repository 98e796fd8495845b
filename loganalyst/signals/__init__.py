"""What one curve shows: arrays in, findings out. One file per kind of signal; this page only puts them in order."""

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
from loganalyst.signals.quicklook import suspicious
from loganalyst.signals.rate_drop import drops, explained, rate_drop
from loganalyst.signals.rateschedule import Schedule, schedule
from loganalyst.signals.restart import restart
from loganalyst.signals.robuststatistics import as_floats
from loganalyst.signals.segments import FEWEST, learning
from loganalyst.signals.shortseries import LONGEST, plain
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
    "schedule",
    "shape",
]

LARGEST = 1e9  # effects are clipped here (a step in a curve without any noise)
NEAR = 0.02  # of the curve: a jump and a rise to the end are the same
EDGE = 1.5  # heights of a jump that its own edge may seem to have
HOLDS = 0.3  # of a jump that the curve may still climb after it, where the jump was all
FULL = 40  # curves of a run that get the full pipeline whatever the screen says


def change_points(
    values: ArrayLike,
    steps: ArrayLike | None = None,
    role: str | Role | None = None,
    *,
    worse: Worse = None,
    rate: ArrayLike | None = None,
) -> list[ChangePoint]:
    """All changes in one curve, in order of their index.

    `values`: n numbers of any kind (NaN and ±Inf are findings, not errors); `steps`: n numbers, only to see them go
    back; `role`: a role name of rules/roles.yaml or a Role; `worse` ("up" or "down") overrides its direction of harm;
    `rate`: the learning rate at each of the n points, only to see it drop. Same result for a·values with a > 0.
    ValueError for an unknown role name or direction.

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
    shapes = _shapes(p, [i for i in lowered if i < p.y.size], judged=towards is not None)
    if role is None and worse is None and FEWEST <= p.y.size <= LONGEST and not learning(p.level):
        shapes = plain(p, shapes)
    found += [_placed(c, p) for c in shapes]
    return sorted(found, key=lambda c: (c.index, c.kind))


def _shapes(p: Prepared, lowered: Sequence[int], *, judged: bool) -> list[ChangePoint]:
    """What the detectors find among the finite points, each change told once."""
    steps = levels(p)
    peaks = [s for s in spikes(p) if not any(_same(s, step) for step in steps)]
    found = peaks + periodic(peaks)
    end = [c for c in divergence(p) if not _stays(p, c, steps)] if judged else []
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
    rest = bends + (end or plateau(p))
    return found + [c for c in rest if not explained(c, gains, p.y.size)]


def _same(spike: ChangePoint, step: ChangePoint) -> bool:
    """Whether the running median, late at a jump, made a spike of its edge."""
    return step.kind == "level_up" and abs(spike.index - step.index) <= 2 and spike.effect <= EDGE * step.effect


def _stays(p: Prepared, end: ChangePoint, steps: Sequence[ChangePoint]) -> bool:
    """Whether the rise to the end is one jump to a level that holds, and no divergence."""
    near = [s for s in steps if s.kind == "level_up" and abs(s.index - end.index) <= NEAR * p.y.size]
    after = p.level[near[-1].index // p.size + 1 :] if near else p.level[:0]
    climb = trend(after) * after.size
    return bool(after.size >= FEWEST and abs(climb) <= HOLDS * near[-1].effect * float(p.noise[near[-1].index]))


def _placed(c: ChangePoint, p: Prepared) -> ChangePoint:
    """A change in the finite points, in the positions of the given array."""
    end = None if c.end is None else int(p.where[c.end])
    return ChangePoint(int(p.where[c.index]), end, c.kind, min(c.effect, LARGEST), c.significance)


def find(curves: Sequence[Curve]) -> tuple[pl.DataFrame, dict[str, int]]:
    """The `findings` table of all judged curves, and how many were read in "full", "screened" only, or "skipped".

    The first 40 curves (one of every role before a second of any) and those a quick screen marks get the full pipeline.
    `index` of a finding counts the finite points before it.

    >>> import loganalyst as la
    >>> findings, coverage = la.signals.find(la.diagnose("fixtures/runs/nan-lr").curves)
    >>> coverage["full"], findings.filter(metric="train/loss", kind="nonfinite")["step"].to_list()
    (8, [660])
    """
    judged = _by_turns([c for c in curves if c.role.judged and c.values.size])
    full = judged[:FULL] + [c for c in judged[FULL:] if suspicious(c.values, -1 if c.role.worse == "down" else 1)]
    rates = [c for c in curves if c.role.name == "learning_rate" and c.values.size]
    sizes = [curve.values.size for curve in full]
    found = side_by_side(
        lambda c: _rows(c, _rate(c, rates[0]) if rates else None),
        full,
        values=sum(sizes),
        largest=max(sizes, default=0),
    )
    rows = [row for some in found for row in some]
    coverage = {"full": len(full), "screened": len(judged) - len(full), "skipped": len(curves) - len(judged)}
    return table("findings", {k: [r[k] for r in rows] for k in rows[0]} if rows else None), coverage


def _by_turns(curves: list[Curve]) -> list[Curve]:
    """The first curve of every role, then the second of every role, and so on."""
    seen: Counter[str] = Counter()
    turns = []
    for curve in curves:
        turns.append(seen[curve.role.name])
        seen[curve.role.name] += 1
    return [curve for _, curve in sorted(zip(turns, curves, strict=True), key=lambda pair: pair[0])]


def _rate(curve: Curve, rate: Curve) -> NDArray[np.float64]:
    """The learning rate last logged at or before each point of a curve."""
    if np.array_equal(rate.steps, curve.steps) and (np.diff(rate.steps) > 0).all():
        return rate.values
    return rate.values[np.maximum(np.searchsorted(rate.steps, curve.steps, side="right") - 1, 0)]


def _rows(curve: Curve, rate: ArrayLike | None) -> list[dict[str, object]]:
    """One row a change, placed by the curve at that index."""
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
