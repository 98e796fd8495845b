"""A comparison in words, for every renderer: one section for each question, with a table and some sentences."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from loganalyst.report import trust
from loganalyst.report.audit.screen import contrast, facts
from loganalyst.report.common.runpaths import common_root, short
from loganalyst.report.common.wording import clean, count, number
from loganalyst.report.comparison.differences import scaling_part, seed_part, set_part
from loganalyst.report.comparison.part import MAX_ROWS, MAX_SETTINGS, Part
from loganalyst.report.comparison.sensitivitysection import sensitivity_part

if TYPE_CHECKING:
    from loganalyst.comparing.comparisonresult import Comparison, Suggestion, Unrelated

KINDS = {
    "copies": "the same settings and the same curve: copies",
    "nondeterministic": "the same settings and seed, another curve: the training is not repeatable",
    "seedless": "the same settings, another curve: no seed is logged",
    "without_effect": "the same curve to the last digit with other settings: these settings have no effect",
}


def parts(found: "Comparison", top: int = 5) -> list[Part]:
    """All sections with content, the next run last; then the sections of unrelated groups of runs."""
    root = common_root(found.runs["path"].to_list())
    sections = [
        *_unrelated(found, root), *set_part(found), *sensitivity_part(found), *_corner(found), *_failed(found, root),
        *_best(found, root, top), *seed_part(found), *scaling_part(found), *_duplicates(found, root),
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


def _duplicates(found: "Comparison", root: str) -> Iterator[Part]:
    paths = dict(found.runs.select("run_id", "path").iter_rows())
    rows = []
    for d in found.duplicates[:MAX_ROWS]:
        named = ", ".join(clean(short(paths[r], root), 40) for r in d.runs[:3]) + (" …" if len(d.runs) > 3 else "")
        what = KINDS[d.kind] + (f" ({', '.join(clean(k, 32) for k in d.keys[:4])})" if d.keys else "")
        rows.append((f"{len(d.runs):,} ×", what, named))
    yield Part("The same runs", ("runs", "what", "which"), tuple(rows))


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
