"""Which settings matter, in words: the section on the sensitivity of a sweep."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from loganalyst.report.common.wording import clean, count, number, percent
from loganalyst.report.comparison.part import Part
from loganalyst.report.comparison.plot import effects

if TYPE_CHECKING:
    from loganalyst.comparing.comparisonresult import Comparison, Importance, Region

BAR_CELLS = 12
MAX_LEVELS = 4  # levels that are named one by one


def sensitivity_part(found: "Comparison") -> Iterator[Part]:
    """The settings that matter, the others in a note, and what the best of all would give."""
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
