"""Hyper-parameter sensitivity of a sweep: which settings matter, their best levels, and their interactions."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from loganalyst.comparing import importance
from loganalyst.comparing.comparisonresult import Edge, Importance, Interaction, Region, Sensitivity
from loganalyst.comparing.responsesurface import Codes, Floats, Model, along, best_place, levels_of, surface
from loganalyst.comparing.settingspace import Setting
from loganalyst.comparing.surfaceterms import Effect

MIN_RUNS = 8
MIN_RUNS_PER_SETTING = 2
MIN_SHARED_VARIANCE = 0.8  # of two settings that were changed together
MIN_PROBABILITY_WORSE = 0.95  # of a level that is significantly worse
MAX_PROFILE_LEVELS = 40


def sensitivity(
    settings: Sequence[Setting], rows: Codes, objective: Floats, sign: float
) -> tuple[Sensitivity, Model | None]:
    """The effects of the settings over the runs at `rows`, and the fitted model (None if there is none)."""
    varied = [s for s in settings if np.unique(s.codes[rows]).size > 1]
    if why := _why_not(varied, objective):
        return Sensitivity(rows.size, why_not=why), None
    found = surface(varied, rows, objective, sign)
    total, alone, noise = importance.shares(found.surface, len(varied), found.draws)
    q = importance.discovery(found.p)
    best = best_place(found)
    order = np.argsort(-total.mean(axis=0), kind="stable")
    important = q <= importance.MAX_FALSE_DISCOVERY_RATE
    importances = tuple(_importance(found, j, (total, alone), q, best) for j in order)
    regions = tuple(_region(found, j, best) for j in order if important[j])
    low, middle, high = np.quantile(found.back(found.at(best[None, :])[:, 0]), (0.05, 0.5, 0.95))
    return Sensitivity(
        runs=rows.size,
        importances=importances,
        interactions=_interactions(found, alone, best),
        regions=regions,
        noise=float(noise.mean()),
        together=_together(varied, found),
        predicted=(float(middle), float(min(low, high)), float(max(low, high))),
    ), found


def _why_not(varied: Sequence[Setting], objective: Floats) -> str:
    n = objective.size
    if not varied:
        return "no setting is logged with different values in the runs that can be compared"
    if n < MIN_RUNS:
        return f"{n} runs can be compared, and {MIN_RUNS} are needed to say which setting matters"
    if n < MIN_RUNS_PER_SETTING * len(varied):
        return (
            f"{n} runs can be compared and {len(varied)} settings vary: too few runs to separate their effects; "
            f"{MIN_RUNS_PER_SETTING * len(varied)} runs, or fewer varying settings, are needed"
        )
    return "all runs have the same objective" if np.ptp(objective) == 0 else ""


def _importance(found: Model, j: int, shares: tuple[Floats, Floats], q: Floats, best: Codes) -> Importance:
    setting, (total, alone) = found.settings[j], shares
    low, high = np.quantile(total[:, j], importance.INTERVAL)
    return Importance(
        key=setting.key,
        scale=setting.scale,
        also=setting.also,
        share=float(total[:, j].mean()),
        low=float(low),
        high=float(high),
        main=float(alone[:, j].mean()),
        p=float(found.p[j]),
        q=float(q[j]),
        important=bool(q[j] <= importance.MAX_FALSE_DISCOVERY_RATE),
        profile=_profile(found, j, best),
    )


def _profile(found: Model, j: int, best: Codes) -> tuple[dict[str, float | str], ...]:
    levels = levels_of(found, j, MAX_PROFILE_LEVELS)
    values = found.back(found.at(along(best, j, levels)))
    ends = np.quantile(values, (0.05, 0.5, 0.95), axis=0).T
    return tuple(
        {"level": found.settings[j].levels[level], "value": float(v), "low": float(a), "high": float(b)}
        for level, (a, v, b) in zip(levels, ends, strict=True)
    )


def _region(found: Model, j: int, best: Codes) -> Region:
    """The levels around the best one that are not significantly worse, with the other settings at their best."""
    setting = found.settings[j]
    tried = np.unique(found.codes[j])
    values = found.at(along(best, j, tried))
    top = int(np.argmin(values.mean(axis=0)))
    worse = (values > values[:, [top]]).mean(axis=0) >= MIN_PROBABILITY_WORSE
    worse[top] = False
    kept = np.flatnonzero(~worse)
    if setting.scale != "choice":
        first = top - int(np.argmax(worse[top::-1])) + 1 if worse[:top].any() else 0
        last = top + int(np.argmax(worse[top:])) - 1 if worse[top:].any() else tried.size - 1
        kept = np.arange(first, last + 1)
    return Region(
        key=setting.key,
        scale=setting.scale,
        best=setting.levels[int(tried[top])],
        levels=tuple(setting.levels[int(tried[i])] for i in kept),
        edge=_edge(setting, top, tried.size),
        free=bool(kept.size == tried.size),
    )


def _edge(setting: Setting, top: int, levels: int) -> Edge | None:
    if setting.scale == "choice":
        return None
    return "low" if top == 0 else "high" if top == levels - 1 else None


def _interactions(found: Model, alone: Floats, best: Codes) -> tuple[Interaction, ...]:
    """The products that are part of the surface; `q` is corrected for all products that were tested."""
    q = dict(zip(found.p_pairs, importance.discovery(np.array(list(found.p_pairs.values()))), strict=True))
    found_ = [
        Interaction(
            keys=(found.settings[e.positions[0]].key, found.settings[e.positions[1]].key),
            share=float(alone[:, i].mean()),
            q=float(q[e.positions]),
            important=bool(q[e.positions] <= importance.MAX_FALSE_DISCOVERY_RATE),
            best=_best_given(found, e, best),
        )
        for i, e in enumerate(found.surface.effects)
        if len(e.positions) > 1
    ]
    return tuple(sorted(found_, key=lambda i: (not i.important, -i.share)))


def _best_given(found: Model, product: Effect, best: Codes) -> tuple[dict[str, float | str], ...]:
    """The best level of setting j at both ends of setting k (of a choice: at its two most common levels)."""
    j, k = product.positions
    tried = np.unique(found.codes[k])
    ends = (
        (tried[0], tried[-1])
        if found.settings[k].scale != "choice"
        else tuple(np.argsort(-np.bincount(found.codes[k]))[:2])
    )
    out: list[dict[str, float | str]] = []
    for end in ends:
        levels = np.unique(found.codes[j])
        places = along(best, j, levels)
        places[:, k] = end
        top = int(np.argmin(found.at(places).mean(axis=0)))
        out.append({"at": found.settings[k].levels[int(end)], "best": found.settings[j].levels[int(levels[top])]})
    return tuple(out)


def _together(settings: Sequence[Setting], found: Model) -> tuple[tuple[str, str, float], ...]:
    """Pairs of settings that were changed together, with the share of the first slope that the second explains."""
    out = []
    for j, k in combinations(range(len(settings)), 2):
        a, b = (found.bases[i].table[found.codes[i]] for i in (j, k))
        n = len(a)
        explained = float(np.sum((a[:, :1].T @ b / n) ** 2))
        adjusted = 1 - (1 - explained) * (n - 1) / max(n - 1 - b.shape[1], 1)
        if adjusted >= MIN_SHARED_VARIANCE:
            out.append((settings[j].key, settings[k].key, adjusted))
    return tuple(sorted(out, key=lambda row: -row[2]))
