"""What to look at after the fix: the curves that showed the fault, with what they were before it."""

from collections.abc import Iterator

import numpy as np

from loganalyst.model import Cause, Curve, Diagnosis
from loganalyst.report.common.wording import clean, number, step
from loganalyst.report.diagnosis.overview import Row

__all__ = ["watch"]

MOST = 4
BEFORE = 0.2  # of the run up to the onset: the level it had
FEWEST = 3  # values that make a level


def watch(d: Diagnosis) -> Iterator[Row]:
    """A row a curve that the likeliest cause names, then the line of the log that must not come back."""
    lead = d.causes[0] if d.causes and d.causes[0].verdict == "likely" else None
    if lead is None:
        return
    named = [lead.metric, *(e.metric for e in lead.evidence if e.holds)]
    named += [s.metric for s in d.symptoms if s.id in lead.symptoms]
    curves = {c.metric: c for c in d.curves if len(c.values) >= FEWEST and c.role.worse}
    found = [curves[m] for m in dict.fromkeys(named) if m in curves]
    yield from (Row(clean(c.metric, 80), text) for c in found[:MOST] if (text := _curve(c, lead)))
    if lead.line is not None and (line := _line(d, lead)):
        yield Row("the log", f"no line like “{line}”")


def _curve(curve: Curve, cause: Cause) -> str:
    """Its level before the onset and how far it went from there; without an onset its best and its end."""
    values, steps = curve.values, curve.steps
    finite = np.isfinite(values)
    if not finite.any():
        return "stays finite"
    pick, place = (np.nanmax, np.nanargmax) if curve.role.worse == "up" else (np.nanmin, np.nanargmin)
    best = (np.nanargmin if curve.role.worse == "up" else np.nanargmax)(np.where(finite, values, np.nan))
    onset = cause.onset_step
    before = _level(curve, onset) if onset is not None else None
    if onset is None or before is None:
        ends, peak = number(float(values[finite][-1])), number(float(values[best]))
        return f"ended at {ends}; its best was {peak} at step {step(int(steps[best]))}"
    after = finite & (steps >= onset)
    broke = "; it became NaN or infinite" if (~finite & (steps >= onset)).any() else ""
    if after.any():
        shown = np.where(after, values, np.nan)
        broke = broke or f"; it went to {number(float(pick(shown)))} at step {step(int(steps[place(shown)]))}"
    return f"stays near {number(before)}, its level before step {step(onset)}{broke}"


def _level(curve: Curve, onset: int) -> float | None:
    """The median of what it logged shortly before the onset."""
    known = np.isfinite(curve.values) & (curve.steps < onset)
    values = curve.values[known & (curve.steps >= onset - BEFORE * (onset - curve.steps[0]))]
    return float(np.median(values)) if len(values) >= FEWEST else None


def _line(d: Diagnosis, cause: Cause) -> str:
    """The line of the log that shows the cause."""
    for excerpt in d.excerpts:
        if (excerpt.file, excerpt.marked) == (cause.file, cause.line):
            return clean(excerpt.lines[excerpt.marked - excerpt.first_line], 120)
    return next((clean(e.text, 120) for e in cause.evidence if e.holds and e.line == cause.line), "")
