"""The response surface of a sweep: of the objective of its runs, over the settings that vary, with draws of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from loganalyst.comparing import importance, surfaceterms
from loganalyst.comparing.settingspace import Setting
from loganalyst.comparing.surfaceterms import Basis, Effect, Surface

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

SCREENED = 0.05  # chance up to which a product becomes part of the surface
CANDIDATES = 512  # places at which the surface is looked at for the best
COARSE = 9  # levels of a setting that are combined anew
LINEAR = 2.0  # robust standard deviations within which the objective is kept as it is; beyond, its logarithm counts
FAR = 5.0  # so many of these, and farther, is simply far: how far says nothing of the settings


@dataclass(frozen=True)
class Model:
    """A surface over settings, of the objective made so that lower is better and far values count as their logarithms
    (`back` undoes that). `p` is the chance of each setting's effect if it had none, `p_pairs` that of products.
    """

    settings: tuple[Setting, ...]
    bases: tuple[Basis, ...]
    codes: tuple[Codes, ...]
    surface: Surface
    p: Floats
    p_pairs: Mapping[tuple[int, ...], float]
    middle: float
    unit: float
    sign: float
    draws: Floats

    def at(self, places: NDArray[np.int64]) -> Floats:
        """Draws of the surface (draws x places) at places given by the level of each setting."""
        columns = np.column_stack([_columns(e, places, self) for e in self.surface.effects])
        return np.asarray(self.surface.centre + self.draws @ (columns - self.surface.means).T)

    def back(self, y: Floats) -> Floats:
        """From the scale of the surface to that of the objective."""
        return np.asarray(self.sign * (self.middle + self.unit * np.sinh(y)))


def _columns(effect: Effect, places: NDArray[np.int64], model: Model) -> Floats:
    levels = [places[:, j] for j in range(len(model.settings))]
    if len(effect.of) == 1:
        (j,) = effect.of
        return np.asarray(model.bases[j].table[levels[j]] * np.sqrt(effect.prior))
    return surfaceterms.product((effect.of[0], effect.of[1]), model.bases, model.settings, levels).values


def surface(settings: Sequence[Setting], rows: NDArray[np.int64], objective: Floats, sign: float) -> Model:
    """The surface over the runs at `rows`, whose objectives these are; `sign` is -1 where higher is better."""
    codes = tuple(s.codes[rows] for s in settings)
    bases = tuple(surfaceterms.basis(s, c) for s, c in zip(settings, codes, strict=True))
    value = sign * objective
    middle = float(np.median(value))
    spread = float(np.median(np.abs(value - middle))) * 1.4826 or float(np.mean(np.abs(value - middle))) * 1.2533
    unit = LINEAR * spread
    y = np.arcsinh(np.clip((value - middle) / unit, -FAR, FAR))
    unit_y = float(y.std())
    mains = surfaceterms.main_effects(bases, codes)
    alone = surfaceterms.fit(y / unit_y, mains)
    first = _first(alone, y.size)
    pairs = [surfaceterms.product((j, k), bases, settings, codes) for j, k in combinations(first, 2)]
    p_pairs = importance.pair_chances(pairs, alone, y / unit_y)
    kept = [e for e, p in zip(pairs, p_pairs, strict=True) if p <= SCREENED]
    fitted = surfaceterms.fit(y / unit_y, [*mains, *kept]) if kept else alone
    own = [
        [mains[j], *(surfaceterms.product((j, k), bases, settings, codes) for k in first if k != j)]
        for j in range(len(mains))
    ]
    p = importance.chances(y / unit_y, [*mains, *kept], own)
    fitted = replace(
        fitted,
        mean=fitted.mean * unit_y,
        covariance=fitted.covariance * unit_y**2,
        centre=fitted.centre * unit_y,
        noise=fitted.noise * unit_y**2,
        variances=fitted.variances * unit_y**2,
    )
    chances = {e.of: float(p) for e, p in zip(pairs, p_pairs, strict=True)}
    return Model(tuple(settings), bases, codes, fitted, p, chances, middle, unit, sign, fitted.draws(importance.DRAWS))


def _first(alone: Surface, n: int) -> list[int]:
    """The settings that tell most, whose products are looked at; fewer where there are few runs."""
    most = min(surfaceterms.CROSSED, 1 + n // 10)
    return sorted(np.argsort(-alone.variances, kind="stable")[:most].tolist())


def levels_of(found: Model, j: int, most: int) -> NDArray[np.int64]:
    """Levels that runs have, evenly thinned."""
    tried = np.unique(found.codes[j])
    return np.asarray(tried[np.unique(np.linspace(0, tried.size - 1, min(most, tried.size)).round().astype(int))])


def along(place: Codes, j: int, levels: Codes) -> NDArray[np.int64]:
    """The place with setting j at each of the levels."""
    places = np.tile(place, (levels.size, 1))
    places[:, j] = levels
    return places


def candidates(found: Model) -> NDArray[np.int64]:
    """Places to look at: the settings of runs, and their levels combined anew."""
    tried = np.unique(np.column_stack(found.codes), axis=0)
    rng = np.random.default_rng(0)
    some = tried[rng.permutation(len(tried))[:CANDIDATES]]
    levels = [levels_of(found, j, COARSE) for j in range(len(found.settings))]
    new = np.column_stack([rng.choice(level, CANDIDATES) for level in levels])
    return np.unique(np.vstack([some, new]), axis=0)


def best_place(found: Model) -> NDArray[np.int64]:
    """The levels with the lowest expected value plus its error: what is not known is no best region."""
    places = candidates(found)
    values = found.at(places)
    return np.asarray(places[int(np.argmin(values.mean(axis=0) + values.std(axis=0)))])
