"""Sections on differences that chance may explain: by seeds, by size, and between two sets of runs."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from loganalyst.report.common.wording import clean, count, number
from loganalyst.report.comparison.part import MAX_ROWS, MAX_SETTINGS, Part
from loganalyst.report.comparison.plot import laws

if TYPE_CHECKING:
    from loganalyst.comparing.comparisonresult import Comparison, Regression, ScalingFit, Versus

MIN_SIZES = 4  # distinct sizes from which on the runs look like a scaling study
VERDICTS = {"worse": "✗ worse", "better": "✓ better", "same": "· within noise", "unknown": "? not known"}


def seed_part(found: "Comparison") -> Iterator[Part]:
    """How much another seed changes, and whether groups of equal runs differ by more."""
    s = found.seeds
    if s.why_not or s.sd is None:
        return
    rows = []
    for g in s.groups[:MAX_ROWS]:
        settings = ", ".join(f"{clean(k, 24)} {clean(v, 16)}" for k, v in list(g.settings.items())[:MAX_SETTINGS])
        rows.append((g.id, f"{g.mean:.5g} ± {g.sd:.2g}", f"{len(g.runs):,}", settings))
    spread = f"{number(s.sd)} (standard deviation, {s.df} degree{'s' if s.df > 1 else ''} of freedom)"
    seedless = {run for d in found.duplicates if d.kind == "seedless" for run in d.runs}
    if seedless.isdisjoint(run for g in s.groups for run in g.runs):
        notes = [f"Another seed changes the objective by {spread}"]
    else:
        notes = [f"Runs with the same logged settings differ by {spread}; no seed is logged, so more may differ"]
    notes += [_versus(v) for v in s.versus[:3]]
    yield Part("Seeds", ("group", "mean", "runs", "settings"), tuple(rows), tuple(notes))


def _versus(v: "Versus") -> str:
    text = f"{v.better} against {v.other}: better by {v.difference:.3g} ({v.low:.3g} to {v.high:.3g}, p {number(v.p)})"
    if v.decided:
        return f"{text}: decided"
    return f"{text}: not decided" + (
        f"; {v.seeds} seeds each would likely decide a difference of this size" if v.seeds else ""
    )


def scaling_part(found: "Comparison") -> Iterator[Part]:
    """The scaling laws, and whether the largest run is compute-optimal."""
    s = found.scaling
    fits = [f for f in s.fits if f.verdict != "too_few" or len({point[0] for point in f.points}) >= MIN_SIZES]
    notes = [_fit(f) for f in fits]
    notes += [f"The largest run is {s.optimum.text}"] if s.optimum else []
    yield Part("Scaling", notes=tuple(notes), panels=laws(found))


def _fit(f: "ScalingFit") -> str:
    words = {"fitted": "", "undetermined": "not determined: ", "too_few": "too few: ", "too_narrow": "too narrow: "}
    return f"{f.law} over {f.x} ({count(f.runs, 'run')}, a factor of {f.span:.3g}): {words.get(f.verdict, '')}{f.text}"


def set_part(found: "Comparison") -> Iterator[Part]:
    """The metrics of the new set against those of the old one."""
    if not found.sets:
        return
    rows = [_regression(r) for r in found.regressions]
    changed = [
        f"{clean(k, 40)} {clean(a, 30)} → {clean(b, 30)}" for k, (a, b) in list(found.changed.items())[:MAX_ROWS]
    ]
    notes = [f"Changed in all new runs: {', '.join(changed)}"] if changed else []
    title = f"{clean(found.sets[1], 60)} against {clean(found.sets[0], 60)}"
    yield Part(title, ("", "metric", "old", "new", "difference", "p", "runs"), tuple(rows), tuple(notes))


def _regression(r: "Regression") -> tuple[str, ...]:
    interval = "" if r.low is None or r.high is None else f" ({r.low:+.3g} to {r.high:+.3g})"
    runs = f"{r.old_runs:,} + {r.new_runs:,}" + (f", {count(r.matched, 'setting')} in both" if r.matched else "")
    p = "" if r.p is None else number(r.p)
    metric = clean(r.metric, 40)
    return VERDICTS[r.verdict], metric, f"{r.old:.4g}", f"{r.new:.4g}", f"{r.difference:+.3g}{interval}", p, runs
