"""Suggest the most informative next runs, with the meaning of each outcome."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loganalyst.comparing.comparisonlimits import limits
from loganalyst.comparing.comparisonresult import Corner, Objective, Scaling, Seeds, Sensitivity, Suggestion
from loganalyst.comparing.responsesurface import Model, candidates
from loganalyst.comparing.settingspace import Setting, shown

MAX_SUGGESTIONS = 3
MIN_SIZES = 4  # runs with fewer sizes were not made for a scaling law
MAX_GRID_LEVELS = 9  # a range with more levels (a random search) is extended by an eighth of its width


@dataclass(frozen=True)
class Known:
    """The results that suggestions use. `best` is the path of the best run, `settings` are its varying settings."""

    objective: Objective | None
    sensitivity: Sensitivity
    model: Model | None
    corner: Corner | None
    paths: Mapping[str, str]
    best: str
    settings: Mapping[str, str]
    failing: float
    separate: Suggestion | None
    seeds: Seeds = Seeds()
    scaling: Scaling = Scaling()


def suggestions(known: Known) -> tuple[Suggestion, ...]:
    """At most three suggestions, the most informative first."""
    causes = [known.separate] if known.separate else []
    others = [*_seeds(known), *_extend(known), *_explore(known), *_scale(known)]
    every = [*causes, *others] if known.failing >= limits().next_run.failing_share else [*others, *causes]
    first_of_kind = {s.kind: s for s in reversed(every)}
    return tuple(first_of_kind[kind] for kind in dict.fromkeys(s.kind for s in every))[:MAX_SUGGESTIONS]


def _seeds(known: Known) -> Iterator[Suggestion]:
    """More seeds for the two best groups, if they can decide between them."""
    groups = {g.id: g for g in known.seeds.groups}
    for versus in known.seeds.versus[:1]:
        a, b = groups[versus.better], groups[versus.other]
        if versus.decided or versus.seeds is None:
            continue
        more = {g.id: max(versus.seeds - len(g.runs), 1) for g in (a, b)}
        if sum(more.values()) > limits().next_run.max_seed_runs:
            continue
        differ = {k: v for k, v in b.settings.items() if a.settings.get(k) != v}
        words = ", ".join(f"{k} {a.settings.get(k)} or {v}" for k, v in differ.items())
        yield Suggestion(
            "seeds",
            f"Run {more[a.id]} more seeds with the settings of {a.id}, and {more[b.id]} with those of {b.id} ({words})",
            f"their difference of {abs(versus.difference):.3g} is within the seed noise ({known.seeds.sd:.2g})",
            known.paths[a.runs[0]],
            {"seed": "a new one"},
            (
                (
                    f"the interval of the difference excludes 0, and {a.id} is still ahead",
                    f"{a.id} is better: continue with it",
                ),
                ("it does not", "they are equally good in practice: take the cheaper one, and change something else"),
            ),
        )


def _extend(known: Known) -> Iterator[Suggestion]:
    """Extend the range of a setting whose best level is at its end."""
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
            f"Extend the range {side} the tried values: {region.key} {shown(region.best)} → {value:.3g}",
            f"the best {region.key} is at the end of its range, so its best value is not known yet",
            known.best,
            {region.key: f"{value:.3g}"},
            (
                (_improves(known), f"the best {region.key} lies there: continue in this direction"),
                ("it does not, or it diverges", f"{region.key} {shown(region.best)} is near its best: leave it there"),
            ),
        )


def _beyond(setting: Setting, edge: str | None) -> float | None:
    """The next level beyond an end of the range; None if it would be negative, or a share above 1."""
    levels = [float(v) for v in setting.levels]
    last, before = (levels[-1], levels[-2]) if edge == "high" else (levels[0], levels[1])
    if setting.scale == "log":
        step = limits().next_run.max_extension
        return last * float(np.clip(last / before, 1 / step, step)) if last > 0 and before > 0 else None
    side = 1 if edge == "high" else -1
    value = last + (last - before if len(levels) <= MAX_GRID_LEVELS else (levels[-1] - levels[0]) / 8 * side)
    if value <= 0 < last:
        value = last / 2
    whole = all(v.is_integer() for v in levels) and not value.is_integer()
    share = setting.kind == "regularisation" and levels[-1] <= 1 < value
    return None if value < 0 or last == 0 or share or whole else value


def _explore(known: Known) -> Iterator[Suggestion]:
    """The untried combination with the largest expected improvement over the best tried one (Mockus 1978)."""
    model = known.model
    if model is None or not any(i.important for i in known.sensitivity.importances):
        return
    tried = np.unique(np.column_stack(model.codes), axis=0)
    new = _untried(known, model, tried)
    if not len(new):
        return
    best = model.at(tried).mean(axis=0).min()
    gain = np.maximum(best - model.at(new), 0).mean(axis=0)
    allowed = np.array([not _in_corner(known, _levels(model, place)) for place in new])
    gain = np.where(allowed, gain, -1.0)
    top = int(np.argmax(gain))
    if gain[top] < limits().next_run.min_gain * np.sqrt(model.surface.noise):
        return
    yield _combination(known, model, new[top])


def _untried(known: Known, model: Model, tried: NDArray[np.int64]) -> NDArray[np.int64]:
    """Combinations that no run tried. Settings that do not matter keep the levels of the best run."""
    base = [[shown(v) for v in s.levels].index(known.settings[s.key]) for s in model.settings]
    matters = {i.key for i in known.sensitivity.importances if i.important}
    places = np.unique(np.where([s.key in matters for s in model.settings], candidates(model), base), axis=0)
    return np.asarray(places[~(places[:, None, :] == tried[None, :, :]).all(axis=2).any(axis=1)])


def _combination(known: Known, model: Model, place: NDArray[np.int64]) -> Suggestion:
    """The suggestion to try the levels of a place."""
    levels = _levels(model, place)
    low, middle, high = np.sort(model.back(np.quantile(model.at(place[None])[:, 0], (0.05, 0.5, 0.95))))
    change = {k: shown(v) for k, v in levels.items() if known.settings.get(k) != shown(v)}
    return Suggestion(
        "explore",
        "Try a new combination: " + ", ".join(f"{k} = {v}" for k, v in change.items()),
        f"the model predicts {middle:.4g} there ({low:.4g} to {high:.4g}): the largest expected gain",
        known.best,
        change,
        (
            (_improves(known), "the settings combine as predicted: continue the search around this combination"),
            ("it does not", "some of these settings depend on each other: change them one at a time from the best run"),
        ),
    )  # fmt: skip


def _levels(model: Model, place: NDArray[np.int64]) -> dict[str, float | str]:
    """The level of each setting at a place."""
    return {s.key: s.levels[int(level)] for s, level in zip(model.settings, place, strict=True)}


def _in_corner(known: Known, levels: Mapping[str, float | str]) -> bool:
    """Whether a place meets all conditions of the unstable region; other settings are those of the best run."""
    if known.corner is None:
        return False
    return all(_meets(c, {**known.settings, **levels}) for c in known.corner.conditions)


def _meets(condition: str, levels: Mapping[str, float | str]) -> bool:
    """Whether levels meet a condition such as `lr > 0.1` or `optimizer = sgd`."""
    for sign in (" > ", " ≤ ", " = "):
        key, found, value = condition.partition(sign)
        if found and key in levels:
            if sign == " = ":
                return str(levels[key]) == value
            above = float(levels[key]) > float(value)
            return above if sign == " > " else not above
    return False


def _improves(known: Known) -> str:
    """The outcome that the run beats the expected best."""
    word = "below" if known.objective is None or known.objective.worse == "up" else "above"
    value = known.sensitivity.predicted[0] if known.sensitivity.predicted else float("nan")
    metric = known.objective.metric if known.objective else "the objective"
    return f"{metric} ends {word} {value:.4g}"


def _scale(known: Known) -> Iterator[Suggestion]:
    """A larger size, for a scaling law that is not determined."""
    step = limits().next_run.max_extension
    for fit in known.scaling.fits:
        if fit.verdict == "fitted" or len({point[0] for point in fit.points}) < MIN_SIZES:
            continue
        largest, least = fit.points[-1][0], fit.points[-1][-1]
        yield Suggestion(
            "scale",
            f"Add a size: a run with {fit.x} {largest * step:.3g}, everything else as in the largest",
            f"the law over {fit.x} is not determined: {fit.text}",
            known.best,
            {fit.x: f"{largest * step:.3g}"},
            (
                (
                    f"the loss falls clearly below {least:.4g}",
                    f"{fit.x} still limit the loss: the fit then shows how far that goes",
                ),
                ("it does not", f"{fit.x} no longer limit the loss: the data or the training itself does"),
            ),
        )
        return
