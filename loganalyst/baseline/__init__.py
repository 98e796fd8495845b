"""Compares a run with a baseline: what was changed, where curves diverge, and the most likely responsible change."""

from collections.abc import Callable, Sequence
from math import isfinite

from loganalyst.baseline.differencekinds import FailedFixes, Kinds, kinds
from loganalyst.baseline.differences import changes, missing, way
from loganalyst.baseline.suspects import suspect
from loganalyst.model import Baseline, Change, Curve, Diagnosis, Direction, Parted
from loganalyst.signals import parting

__all__ = ["FailedFixes", "Kinds", "changes", "compare", "kinds", "missing"]

# Last words of roles whose curves get better or worse; all others only get higher or lower
GOALS = ("loss", "component", "accuracy", "score", "error_rate", "reward", "success_rate")


def compare(run: Diagnosis, base: Diagnosis) -> Baseline:
    """The comparison of a diagnosed run with its diagnosed baseline."""
    known = kinds()
    pairs = _pairs(run.curves, base.curves)
    found = {a.metric: _divergence(a, b) for a, b in pairs}
    parted = sorted((p for p in found.values() if p), key=_order)
    logged = changes(base.run, run.run, known)
    differences = [*_shown_by_metrics(parted, logged, known), *logged]
    names = (("the run", run), ("the baseline", base))
    both = {c.label for c in base.causes if c.verdict == "likely"}
    chosen = suspect(differences, run.causes, both, known, apart=bool(parted) or not pairs)
    return Baseline(
        id=base.run.id,
        path=str(base.run.path),
        name=base.run.name,
        status=base.status,
        changes=tuple(differences),
        parted=tuple(parted),
        together=tuple(metric for metric, p in found.items() if p is None),
        suspect=None if isinstance(chosen, str) else chosen,
        unknown=chosen if isinstance(chosen, str) else "",
        not_logged=tuple(name for name, d in names if missing(d.run, known)),
    )


def _pairs(ours: Sequence[Curve], theirs: Sequence[Curve]) -> list[tuple[Curve, Curve]]:
    """The curves that both runs have, by name, if their role is judged."""
    named = {c.metric: c for c in theirs}
    judged = {c.metric: c for c in ours if c.role.judged}
    return [(c, named[m]) for m, c in judged.items() if m in named and c.values.size and named[m].values.size]


def _divergence(ours: Curve, theirs: Curve) -> Parted | None:
    found = parting(ours.steps, ours.values, theirs.steps, theirs.values)
    if found is None:
        return None
    toward = _direction(ours, found.ours)
    return Parted(
        metric=ours.metric,
        role=ours.role.name,
        step=int(ours.steps[found.index]),
        direction=toward(found.sign),
        effect=found.effect,
        final_step=None if found.final is None else int(ours.steps[found.final]),
        final_direction=None if found.final is None else toward(found.final_sign),
        ours=found.ours,
        theirs=found.theirs,
        equal_until=None if found.equal is None else int(ours.steps[found.equal]),
    )


def _direction(curve: Curve, end: float) -> Callable[[int], Direction]:
    """The meaning of a distance's sign: for a goal better or worse. Without a sign, an end in NaN is worse."""
    judged = curve.role.worse if curve.role.name.endswith(GOALS) else None

    def toward(sign: int) -> Direction:
        if not sign:
            return "better" if isfinite(end) else "worse"
        if judged is None:
            return "above" if sign > 0 else "below"
        return "worse" if (sign > 0) == (judged == "up") else "better"

    return toward


def _order(p: Parted) -> tuple[bool, bool, int]:
    """The sort key: goals first, those that get worse before the others, then by step."""
    steps = ((p.direction, p.step), (p.final_direction, p.final_step))
    worse = min((step for direction, step in steps if direction == "worse" and step is not None), default=None)
    return p.direction in ("above", "below"), worse is None, p.step if worse is None else worse


def _shown_by_metrics(parted: Sequence[Parted], logged: Sequence[Change], known: Kinds) -> list[Change]:
    """A change that a metric shows and no setting does: another learning rate."""
    out = []
    for p in parted:
        kind = next((k for k in known.kinds.values() if k.role == p.role), None)
        if kind is not None and not any(known.kinds[c.kind].role == p.role for c in logged):
            values = f"{p.theirs:.4g}", f"{p.ours:.4g}"
            out.append(Change(p.metric, kind.name, kind.section, *values, way(p.theirs, p.ours)))
    return out[:1]
