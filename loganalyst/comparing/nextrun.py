"""Which run to make next: the one that would tell most, with what each outcome would mean."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loganalyst.comparing.comparisonresult import Corner, Objective, Scaling, Seeds, Sensitivity, Suggestion
from loganalyst.comparing.responsesurface import Model, candidates
from loganalyst.comparing.settingspace import Setting, shown

MOST = 3
FAILING = 0.3  # share of failed runs from which on telling their causes apart comes first
SEEDS = 24  # more runs than this are too much to ask for one answer
STEP = 3.0  # factor, at most, by which a range is extended
FEWEST = 4  # sizes from which on runs are meant to tell a law
GAIN = 0.05  # expected improvement, against the noise of one run, that is worth a run


@dataclass(frozen=True)
class Known:
    """What suggestions are made of. `best` is the path of the best run, `told` its settings that vary."""

    objective: Objective | None
    sensitivity: Sensitivity
    model: Model | None
    corner: Corner | None
    paths: Mapping[str, str]
    best: str
    told: Mapping[str, str]
    failing: float
    separate: Suggestion | None
    seeds: Seeds = Seeds()
    scaling: Scaling = Scaling()


def suggestions(known: Known) -> tuple[Suggestion, ...]:
    """At most three, the most telling first."""
    own = [known.separate] if known.separate else []
    rest = [*_seeds(known), *_extend(known), *_explore(known), *_scale(known)]
    every = [*own, *rest] if known.failing >= FAILING else [*rest, *own]
    return tuple({s.kind: s for s in reversed(every)}[kind] for kind in dict.fromkeys(s.kind for s in every))[:MOST]


def _seeds(known: Known) -> Iterator[Suggestion]:
    """The two best groups, where more seeds can decide between them."""
    groups = {g.id: g for g in known.seeds.groups}
    for versus in known.seeds.versus[:1]:
        a, b = groups[versus.better], groups[versus.other]
        if versus.decided or versus.seeds is None:
            continue
        more = {g.id: max(versus.seeds - len(g.runs), 1) for g in (a, b)}
        if sum(more.values()) > SEEDS:
            continue
        differ = {k: v for k, v in b.settings.items() if a.settings.get(k) != v}
        words = ", ".join(f"{k} {a.settings.get(k)} or {v}" for k, v in differ.items())
        yield Suggestion(
            "seeds",
            f"Run {more[a.id]} more seeds with the settings of {a.id}, and {more[b.id]} with those of {b.id} ({words})",
            f"their difference of {abs(versus.difference):.3g} is within what a seed changes ({known.seeds.sd:.2g})",
            known.paths[a.runs[0]],
            {"seed": "one that was not used"},
            (
                (
                    f"the interval of the difference leaves 0 out, {a.id} still ahead",
                    f"{a.id} is better: go on with it",
                ),
                ("it does not", "they are the same for any use: take the cheaper one, and change something else"),
            ),
        )


def _extend(known: Known) -> Iterator[Suggestion]:
    """A setting whose best level is the last that was tried."""
    if known.model is None:
        return
    by_key = {s.key: s for s in known.model.settings}
    for region in known.sensitivity.regions:
        setting = by_key[region.key]
        value = _beyond(setting, region.edge) if region.edge else None
        if value is None or _in_corner(known, {region.key: value}):
            continue
        side = "above" if region.edge == "high" else "below"
        yield Suggestion(
            "extend",
            f"Go on {side} what was tried: {region.key} {shown(region.best)} → {value:.3g}",
            f"{region.key} is best at the end of its range, so that its best value is not known yet",
            known.best,
            {region.key: f"{value:.3g}"},
            (
                (_improves(known), f"the best {region.key} lies there: go on in this direction"),
                ("it does not, or it diverges", f"{region.key} {shown(region.best)} is near its best: leave it there"),
            ),
        )


def _beyond(setting: Setting, edge: str | None) -> float | None:
    """The next level beyond an end; None where it would be below 0, or a share above 1."""
    levels = [float(v) for v in setting.levels]
    last, before = (levels[-1], levels[-2]) if edge == "high" else (levels[0], levels[1])
    if setting.scale == "log":
        return last * float(np.clip(last / before, 1 / STEP, STEP)) if last > 0 and before > 0 else None
    side = 1 if edge == "high" else -1
    value = last + (last - before if len(levels) <= 9 else (levels[-1] - levels[0]) / 8 * side)
    if value <= 0 < last:
        value = last / 2
    whole = all(v.is_integer() for v in levels) and not value.is_integer()
    share = setting.kind == "regularisation" and levels[-1] <= 1 < value
    return None if value < 0 or last == 0 or share or whole else value


def _explore(known: Known) -> Iterator[Suggestion]:
    """The new place with the largest expected improvement over the best place tried (Mockus 1978)."""
    model = known.model
    if model is None or not any(i.important for i in known.sensitivity.importances):
        return
    tried = np.unique(np.column_stack(model.codes), axis=0)
    places = candidates(model)
    base = [[shown(v) for v in s.levels].index(known.told[s.key]) for s in model.settings]
    matters = {i.key for i in known.sensitivity.importances if i.important}
    places = np.unique(np.where([s.key in matters for s in model.settings], places, base), axis=0)
    new = places[~(places[:, None, :] == tried[None, :, :]).all(axis=2).any(axis=1)]
    if not len(new):
        return
    best = model.at(tried).mean(axis=0).min()
    gain = np.maximum(best - model.at(new), 0).mean(axis=0)
    allowed = np.array([not _in_corner(known, _told(model, place)) for place in new])
    gain = np.where(allowed, gain, -1.0)
    top = int(np.argmax(gain))
    if gain[top] < GAIN * np.sqrt(model.surface.noise):
        return
    told = _told(model, new[top])
    low, middle, high = np.sort(model.back(np.quantile(model.at(new[top : top + 1])[:, 0], (0.05, 0.5, 0.95))))
    change = {k: shown(v) for k, v in told.items() if known.told.get(k) != shown(v)}
    yield Suggestion(
        "explore",
        "Try a combination that was not run: " + ", ".join(f"{k} = {v}" for k, v in change.items()),
        f"the surface expects {middle:.4g} there ({low:.4g} to {high:.4g}): the largest expected gain of all places",
        known.best,
        change,
        (
            (_improves(known), "the settings add up as expected: search on around this place"),
            ("it does not", "some of these settings depend on each other: change them one at a time from the best run"),
        ),
    )  # fmt: skip


def _told(model: Model, place: NDArray[np.int64]) -> dict[str, float | str]:
    return {s.key: s.levels[int(level)] for s, level in zip(model.settings, place, strict=True)}


def _in_corner(known: Known, told: Mapping[str, float | str]) -> bool:
    """Whether a place meets all conditions of the unstable corner; what it does not name is as in the best run."""
    if known.corner is None:
        return False
    return all(_meets(c, {**known.told, **told}) for c in known.corner.conditions)


def _meets(condition: str, told: Mapping[str, float | str]) -> bool:
    for sign in (" > ", " ≤ ", " = "):
        key, found, value = condition.partition(sign)
        if found and key in told:
            if sign == " = ":
                return str(told[key]) == value
            above = float(told[key]) > float(value)
            return above if sign == " > " else not above
    return False


def _improves(known: Known) -> str:
    word = "below" if known.objective is None or known.objective.worse == "up" else "above"
    value = known.sensitivity.predicted[0] if known.sensitivity.predicted else float("nan")
    metric = known.objective.metric if known.objective else "the objective"
    return f"{metric} ends {word} {value:.4g}"


def _scale(known: Known) -> Iterator[Suggestion]:
    """A size that a law lacks."""
    for fit in known.scaling.fits:
        if fit.verdict == "fitted" or len({point[0] for point in fit.points}) < FEWEST:
            continue
        largest, least = fit.points[-1][0], fit.points[-1][-1]
        yield Suggestion(
            "scale",
            f"Add a size: a run with {fit.x} {largest * STEP:.3g}, the rest as in the largest",
            f"the law over {fit.x} is not determined: {fit.text}",
            known.best,
            {fit.x: f"{largest * STEP:.3g}"},
            (
                (
                    f"the loss falls clearly below {least:.4g}",
                    f"{fit.x} still limit: the fit then tells how far it goes",
                ),
                ("it does not", f"{fit.x} limit no more: data, or the training itself, do"),
            ),
        )
        return
