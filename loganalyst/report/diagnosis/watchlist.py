"""What to watch after the fix: the curves that showed the fault, and their levels before it."""

from collections.abc import Callable, Iterator

import numpy as np

from loganalyst.model import Cause, Curve, Diagnosis
from loganalyst.report.common.rows import Row
from loganalyst.report.common.wording import clean, number
from loganalyst.report.diagnosis.stepwords import named_by

__all__ = ["watch"]

MAX_CURVES = 4
LEVEL_SHARE = 0.2  # the last share of the steps before the onset, which gives the level before it
MIN_LEVEL_POINTS = 3


def watch(d: Diagnosis) -> Iterator[Row]:
    """A row for each curve that the likeliest cause names, then the line of the log that must not come back."""
    lead = d.causes[0] if d.causes and d.causes[0].verdict == "likely" else None
    if lead is None:
        return
    named = [lead.metric, *(e.metric for e in lead.evidence if e.holds)]
    named += [s.metric for s in d.symptoms if s.id in lead.symptoms]
    curves = {c.metric: c for c in d.curves if len(c.values) >= MIN_LEVEL_POINTS and c.role.worse}
    found = [curves[m] for m in dict.fromkeys(named) if m in curves]
    yield from (Row(clean(c.metric, 80), text) for c in found[:MAX_CURVES] if (text := _curve(c, lead, named_by(d))))
    if lead.line is not None and lead.file in _logs(d) and (line := _line(d, lead)):
        yield Row("the log", f"no line like “{line}”")


def _logs(d: Diagnosis) -> set[str]:
    """The files that are job logs. The line of a table of metrics has numbers, and no words that could come back."""
    return {source.path for source in d.run.sources if source.format == "text"}


def _curve(curve: Curve, cause: Cause, named: Callable[[int], str]) -> str:
    """The level before the onset, and how far the curve went from it. Without an onset: best value and end."""
    values, steps = curve.values, curve.steps
    finite = np.isfinite(values)
    if not finite.any():
        return "stays finite"
    if curve.role.name == "entropy":  # it falls step by step, and is logged with either sign
        first, last = (number(float(values[finite][at])) for at in (0, -1))
        return f"keeps half of its first size for the first tenth of the run; it went from {first} to {last}"
    pick, place = (np.nanmax, np.nanargmax) if curve.role.worse == "up" else (np.nanmin, np.nanargmin)
    best = (np.nanargmin if curve.role.worse == "up" else np.nanargmax)(np.where(finite, values, np.nan))
    onset = cause.onset_step
    before = _level(curve, onset) if onset is not None else None
    if onset is None or before is None:
        ends, peak = number(float(values[finite][-1])), number(float(values[best]))
        return f"ended at {ends}; its best was {peak} at {named(int(steps[best]))}"
    after = finite & (steps >= onset)
    broke = "; it became NaN or infinite" if (~finite & (steps >= onset)).any() else ""
    if after.any():
        shown = np.where(after, values, np.nan)
        broke = broke or f"; it went to {number(float(pick(shown)))} at {named(int(steps[place(shown)]))}"
    return f"stays near {number(before)}, its level before {named(onset)}{broke}"


def _level(curve: Curve, onset: int) -> float | None:
    """The median of the values shortly before the onset."""
    known = np.isfinite(curve.values) & (curve.steps < onset)
    values = curve.values[known & (curve.steps >= onset - LEVEL_SHARE * (onset - curve.steps[0]))]
    return float(np.median(values)) if len(values) >= MIN_LEVEL_POINTS else None


def _line(d: Diagnosis, cause: Cause) -> str:
    """The line of the log that shows the cause."""
    for excerpt in d.excerpts:
        if (excerpt.file, excerpt.marked) == (cause.file, cause.line):
            return clean(excerpt.lines[excerpt.marked - excerpt.first_line], 120)
    return next((clean(e.text, 120) for e in cause.evidence if e.holds and e.line == cause.line), "")
