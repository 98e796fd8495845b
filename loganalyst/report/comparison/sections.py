"""A comparison in words, for every renderer: one section for each question, with a table and some sentences."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from loganalyst.report import trust
from loganalyst.report.audit.screen import contrast, facts
from loganalyst.report.common.runpaths import common_root, short
from loganalyst.report.common.wording import clean, count, number, percent
from loganalyst.report.comparison.plot import Panel, effects, laws

if TYPE_CHECKING:
    from loganalyst.comparing.comparisonresult import (
        Comparison,
        Importance,
        Region,
        Regression,
        ScalingFit,
        Suggestion,
        Unrelated,
        Versus,
    )

BAR_CELLS = 12
MAX_LEVELS = 4  # levels that are named one by one
MAX_ROWS = 8
MIN_SIZES = 4  # distinct sizes from which on the runs look like a scaling study
MAX_SETTINGS = 4  # named for a run
KINDS = {
    "copies": "the same settings and the same curve: copies",
    "nondeterministic": "the same settings and seed, another curve: the training is not repeatable",
    "seedless": "the same settings, another curve: no seed is logged",
    "without_effect": "the same curve to the last digit with other settings: these settings have no effect",
}
VERDICTS = {"worse": "✗ worse", "better": "✓ better", "same": "· within noise", "unknown": "? not known"}


@dataclass(frozen=True)
class Part:
    """A section: its title, a table with a head (may be empty), sentences below it, and panels of the figure."""

    title: str
    head: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()
    panels: tuple[Panel, ...] = ()

    @property
    def filled(self) -> list[int]:
        """The positions of the columns that are not empty."""
        return [i for i in range(len(self.head)) if any(row[i] for row in self.rows)]


def parts(found: "Comparison", top: int = 5) -> list[Part]:
    """All sections with content, the next run last; then the sections of unrelated groups of runs."""
    root = common_root(found.runs["path"].to_list())
    sections = [
        *_unrelated(found, root), *_sets(found), *_sensitivity(found), *_corner(found), *_failed(found, root),
        *_best(found, root, top), *_seeds(found), *_scaling(found), *_duplicates(found, root),
        *_next(found.suggestions, root),
    ]  # fmt: skip
    for group in found.unrelated:
        sections += _alone(found, group, root, top)
    sections += _settings(found)
    return [p for p in sections if p.rows or p.notes]


def _unrelated(found: "Comparison", root: str) -> Iterator[Part]:
    """Runs that are left out because they are unrelated to the others, and why."""
    if not found.unrelated:
        return
    rows = [
        (
            f"{len(u.runs):,}", _where(found, u, root), _both(u.settings), _both(u.metrics),
            ", ".join(u.scale), "below" if u.comparison else "",
        )
        for u in found.unrelated[:MAX_ROWS]
    ]  # fmt: skip
    more = len(found.unrelated) - MAX_ROWS
    notes = [f"And {count(more, 'more group')} of such runs"] if more > 0 else []
    notes += ["They share too little with the runs compared here for a joint comparison"]
    head = ("runs", "where", "settings shared", "metrics shared", "values far apart", "compared alone")
    yield Part("Runs that are unrelated to the others", head, tuple(rows), tuple(notes))


def _settings(found: "Comparison") -> Iterator[Part]:
    """The settings files that took effect, and those that came with a run."""
    named = ((trust.OBEYED, found.settings_obeyed), (trust.IGNORED, found.settings_ignored))
    yield Part(
        "Settings files",
        notes=tuple(f"{name}: {clean(entry)} ({count(n, 'run')})" for name, of in named for entry, n in of.items()),
    )


def _where(found: "Comparison", group: "Unrelated", root: str) -> str:
    """A name for a group of unrelated runs: their folder, or one run and the number of others if they have none of
    their own.
    """
    first = found.runs.filter(run_id=group.runs[0])["path"][0]
    has_folder = short(group.folder, root) != os.curdir
    name = clean(short(group.folder if has_folder else first, root), 60)
    return name if has_folder else f"{name} and {count(len(group.runs) - 1, 'other')}"


def _both(names: tuple[int, int]) -> str:
    shared, of = names
    return f"{shared:,} of {of:,}" if of else "not known"


def _alone(found: "Comparison", group: "Unrelated", root: str, top: int) -> Iterator[Part]:
    """The sections of a group of unrelated runs, titled with their folder."""
    if group.comparison is not None:
        where = _where(found, group, root)
        first, *rest = headline(group.comparison)
        yield Part(f"{where}: {first}", notes=tuple(rest))
        for part in parts(group.comparison, top):
            yield replace(part, title=f"{where}: {part.title}")


def headline(found: "Comparison") -> list[str]:
    """How many runs there are, the objective, and how many are left out."""
    runs, o = found.runs.height, found.objective
    failed = int(found.runs["failed"].sum())
    sentences = [f"{count(runs, 'run')}" + (f", {failed:,} of them failed" if failed else "")]
    if o is None:
        return [*sentences, "Nothing to compare them by: no loss, score or reward is logged."]
    better = "lower" if o.worse == "up" else "higher"
    sentences.append(
        f"{o.known:,} compared by {clean(o.metric, 60)} ({o.how} value, {better} is better): {clean(o.why, 120)}"
    )
    if o.left_out:
        sentences.append("Left out: " + ", ".join(f"{n:,} {why}" for why, n in o.left_out.items()))
    return sentences


def _sensitivity(found: "Comparison") -> Iterator[Part]:
    s = found.sensitivity
    if s.why_not:
        yield Part("What makes the differences", notes=(f"No answer: {s.why_not}.",))
        return
    regions = {r.key: r for r in s.regions}
    rows = [_importance(i, regions.get(i.key)) for i in s.importances if i.important]
    unimportant = [f"{clean(i.key, 40)} {percent(i.share)}" for i in s.importances if not i.important]
    notes = (
        [f"Not shown to matter (at a false discovery rate of 5 %): {', '.join(unimportant[:12])}"]
        if unimportant
        else []
    )
    notes += [f"No setting explains {percent(s.noise)} of the differences"] if s.noise is not None else []
    notes += [_interaction(i.keys, i.best) for i in s.interactions if i.important][:3]
    notes += [f"{a} and {b} were changed together: which of them matters is not known" for a, b, _ in s.together[:3]]
    if s.predicted and rows:
        value, low, high = s.predicted
        notes.append(f"Expected at the best of all settings: {number(value)} ({number(low)} to {number(high)})")
    head = ("setting", "share", "", "90 %", "best", "as good", "q")
    yield Part(
        f"What makes the differences, of {count(len(s.importances), 'setting')} in {count(s.runs, 'run')}",
        head,
        tuple(rows),
        tuple(notes),
        effects(found),
    )


def _importance(i: "Importance", region: "Region | None") -> tuple[str, ...]:
    name = clean(i.key, 32) + (f" (= {', '.join(clean(k, 24) for k in i.also[:2])})" if i.also else "")
    bar = "█" * max(round(BAR_CELLS * i.share), 1)
    best, good = ("", "") if region is None else (level(region.best) + _edge(region), _levels(region))
    return name, bar, percent(i.share), f"{100 * i.low:.0f} to {100 * i.high:.0f} %", best, good, number(i.q)


def _edge(region: "Region") -> str:
    return {"low": " (lowest tried)", "high": " (highest tried)", None: ""}[region.edge]


def _levels(region: "Region") -> str:
    """The levels that are not shown to be worse than the best."""
    if region.free:
        return "any"
    if region.scale == "choice" or len(region.levels) <= 2:
        return ", ".join(level(v) for v in region.levels[:MAX_LEVELS])
    return f"{level(region.levels[0])} to {level(region.levels[-1])}"


def level(value: float | str) -> str:
    """A level of a setting: text, or a number with four digits."""
    return clean(value, 32) if isinstance(value, str) else f"{value:.4g}"


def _interaction(keys: tuple[str, str], best: Sequence[Mapping[str, float | str]]) -> str:
    one, other = (clean(k, 32) for k in keys)
    if len({b["best"] for b in best}) == 1:
        return f"{one} × {other}: how much {one} matters depends on {other}; its best level does not"
    levels = ", ".join(f"{level(b['best'])} at {other} {level(b['at'])}" for b in best)
    return f"{one} × {other}: the best {one} is {levels}"


def _corner(found: "Comparison") -> Iterator[Part]:
    c = found.corner
    if c is not None:
        where = " and ".join(clean(w, 60) for w in c.conditions)
        others = f"of the others {c.other_failed:,} of {c.other_runs:,} (p {number(c.p)})"
        yield Part("Where runs diverge or fail", notes=(f"{where}: {c.failed:,} of {c.runs:,} fail, {others}",))


def _failed(found: "Comparison", root: str) -> Iterator[Part]:
    alike = found.groups.filter(pl.col("runs") > 1).head(MAX_ROWS)
    rows = [
        (f"{g['runs']:,} ×", clean(g["issue"], 48), clean(short(g["example"], root), 32), " · ".join(facts(g)))
        for g in alike.iter_rows(named=True)
    ]
    yield Part("Failed in the same way", ("runs", "cause", "such as", ""), tuple(rows))
    differences = tuple(_contrast(c) for c in found.contrasts.head(MAX_ROWS).iter_rows(named=True))
    yield Part(
        "Failed runs differ from healthy ones in", ("setting", "failed", "of the others", "q", "also"), differences
    )


def _contrast(c: Mapping[str, Any]) -> tuple[str, ...]:
    failed, others = (f"{c[f'{side}failed']:,} of {c[f'{side}runs']:,}" for side in ("", "other_"))
    return contrast(c), failed, others, number(c["q"]), ", ".join(clean(k, 40) for k in c["also"])


def _best(found: "Comparison", root: str, top: int) -> Iterator[Part]:
    best = found.runs.filter(pl.col("left_out").is_null(), pl.col("objective").is_not_null()).head(top)
    if found.objective is None or not best.height:
        return
    keys = [f"config.{i.key}" for i in found.sensitivity.importances] or [c for c in best.columns if "config." in c]
    keys = [k for k in keys if k in best.columns][:MAX_SETTINGS]
    rows = []
    for n, run in enumerate(best.iter_rows(named=True), 1):
        settings = (clean(run[k] or "", 16) for k in keys)
        rows.append((str(n), f"{run['objective']:.5g}", *settings, clean(short(run["path"], root), 60)))
    names = (clean(k.removeprefix("config."), 20) for k in keys)
    yield Part("Best runs", ("", clean(found.objective.metric, 24), *names, "run"), tuple(rows))


def _seeds(found: "Comparison") -> Iterator[Part]:
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


def _scaling(found: "Comparison") -> Iterator[Part]:
    s = found.scaling
    fits = [f for f in s.fits if f.verdict != "too_few" or len({point[0] for point in f.points}) >= MIN_SIZES]
    notes = [_fit(f) for f in fits]
    notes += [f"The largest run is {s.optimum.text}"] if s.optimum else []
    yield Part("Scaling", notes=tuple(notes), panels=laws(found))


def _fit(f: "ScalingFit") -> str:
    words = {"fitted": "", "undetermined": "not determined: ", "too_few": "too few: ", "too_narrow": "too narrow: "}
    return f"{f.law} over {f.x} ({count(f.runs, 'run')}, a factor of {f.span:.3g}): {words.get(f.verdict, '')}{f.text}"


def _duplicates(found: "Comparison", root: str) -> Iterator[Part]:
    paths = dict(found.runs.select("run_id", "path").iter_rows())
    rows = []
    for d in found.duplicates[:MAX_ROWS]:
        named = ", ".join(clean(short(paths[r], root), 40) for r in d.runs[:3]) + (" …" if len(d.runs) > 3 else "")
        what = KINDS[d.kind] + (f" ({', '.join(clean(k, 32) for k in d.keys[:4])})" if d.keys else "")
        rows.append((f"{len(d.runs):,} ×", what, named))
    yield Part("The same runs", ("runs", "what", "which"), tuple(rows))


def _sets(found: "Comparison") -> Iterator[Part]:
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


def _next(suggestions: "Sequence[Suggestion]", root: str) -> Iterator[Part]:
    """The first suggestion in full, the others in a line each."""
    for s in suggestions[:1]:
        change = ", ".join(f"{clean(k, 40)} = {clean(v, 30)}" for k, v in s.change.items())
        notes = [f"{clean(s.title, 300)}.", f"Because {clean(s.why, 300)}."]
        notes += (
            [f"Start from {clean(short(s.base, root), 80)}" + (f" with {change}" if change else "")] if s.base else []
        )
        notes += [f"If {clean(outcome, 200)} → {clean(means, 240)}" for outcome, means in s.outcomes]
        notes += [f"Or: {clean(other.title, 200)}" for other in suggestions[1:]]
        yield Part("Next run", notes=tuple(notes))
