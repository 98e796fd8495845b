"""The response surface of a sweep: the objective as a function of the varying settings, with posterior draws."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from loganalyst.comparing import importance, surfacefit, surfaceterms
from loganalyst.comparing.settingspace import Setting
from loganalyst.comparing.surfacefit import Surface
from loganalyst.comparing.surfaceterms import Basis, Effect

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

MAX_PRODUCT_P = 0.05  # a product with a larger p-value is left out of the surface
MAX_CANDIDATES = 512  # places of either kind at which the best one is searched
LEVELS_PER_SETTING = 9  # levels of a setting in random combinations
LINEAR_WIDTH = 2.0  # robust standard deviations within which the objective stays linear; beyond, its logarithm counts
MAX_DISTANCE = 5.0  # multiples of LINEAR_WIDTH; a greater distance says nothing more about the settings


@dataclass(frozen=True)
class Model:
    """A surface over settings. The objective is transformed so that lower is better and far values count as logarithms
    (`back` reverses that). `p` has the p-value of each setting, `p_pairs` that of each product.
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
        """Draws of the surface (draws x places). A place is the level of each setting."""
        columns = np.column_stack([_columns(e, places, self) for e in self.surface.effects])
        return np.asarray(self.surface.centre + self.draws @ (columns - self.surface.means).T)

    def back(self, y: Floats) -> Floats:
        """Values of the surface, transformed back to the scale of the objective."""
        return np.asarray(self.sign * (self.middle + self.unit * np.sinh(y)))


def _columns(effect: Effect, places: NDArray[np.int64], model: Model) -> Floats:
    levels = [places[:, j] for j in range(len(model.settings))]
    if len(effect.positions) == 1:
        (j,) = effect.positions
        return np.asarray(model.bases[j].table[levels[j]] * np.sqrt(effect.prior))
    return surfaceterms.product((effect.positions[0], effect.positions[1]), model.bases, model.settings, levels).values


def surface(settings: Sequence[Setting], rows: NDArray[np.int64], objective: Floats, sign: float) -> Model:
    """Fit the surface to the runs at `rows` and their objectives; `sign` is -1 if higher is better."""
    codes = tuple(s.codes[rows] for s in settings)
    bases = tuple(surfaceterms.basis(s, c) for s, c in zip(settings, codes, strict=True))
    y, middle, unit = _transformed(sign * objective)
    unit_y = float(y.std())
    mains = surfaceterms.main_effects(bases, codes)
    alone = surfacefit.fit(y / unit_y, mains)
    crossed = _crossed(alone, y.size)
    pairs = [surfaceterms.product((j, k), bases, settings, codes) for j, k in combinations(crossed, 2)]
    p_pairs = importance.pair_chances(pairs, alone, y / unit_y)
    kept = [e for e, p in zip(pairs, p_pairs, strict=True) if p <= MAX_PRODUCT_P]
    fitted = surfacefit.fit(y / unit_y, [*mains, *kept]) if kept else alone
    tested = [
        [mains[j], *(surfaceterms.product((j, k), bases, settings, codes) for k in crossed if k != j)]
        for j in range(len(mains))
    ]
    p = importance.chances(y / unit_y, [*mains, *kept], tested)
    fitted = _scaled(fitted, unit_y)
    p_values = {e.positions: float(p) for e, p in zip(pairs, p_pairs, strict=True)}
    return Model(
        tuple(settings), bases, codes, fitted, p, p_values, middle, unit, sign, fitted.draws(importance.POSTERIOR_DRAWS)
    )


def _transformed(value: Floats) -> tuple[Floats, float, float]:
    """Values (lower is better) as the surface fits them, with the middle and unit that `Model.back` needs."""
    middle = float(np.median(value))
    away = np.abs(value - middle)
    # both factors give the standard deviation of normal noise; the mean serves where most values are equal
    unit = LINEAR_WIDTH * (float(np.median(away)) * 1.4826 or float(np.mean(away)) * 1.2533)
    return np.arcsinh(np.clip((value - middle) / unit, -MAX_DISTANCE, MAX_DISTANCE)), middle, unit


def _scaled(fitted: Surface, unit: float) -> Surface:
    """The surface of values that are `unit` times those that it was fitted to."""
    return replace(
        fitted,
        mean=fitted.mean * unit,
        covariance=fitted.covariance * unit**2,
        centre=fitted.centre * unit,
        noise=fitted.noise * unit**2,
        variances=fitted.variances * unit**2,
    )


def _crossed(alone: Surface, n: int) -> list[int]:
    """The settings with the largest effects, whose products are tested; fewer if there are few runs."""
    most = min(surfaceterms.MAX_CROSSED, 1 + n // 10)
    return sorted(np.argsort(-alone.variances, kind="stable")[:most].tolist())


def levels_of(found: Model, j: int, most: int) -> NDArray[np.int64]:
    """Levels of setting j that runs have, evenly thinned to at most `most`."""
    tried = np.unique(found.codes[j])
    return np.asarray(tried[np.unique(np.linspace(0, tried.size - 1, min(most, tried.size)).round().astype(int))])


def along(place: Codes, j: int, levels: Codes) -> NDArray[np.int64]:
    """The place with setting j at each of the levels."""
    places = np.tile(place, (levels.size, 1))
    places[:, j] = levels
    return places


def candidates(found: Model) -> NDArray[np.int64]:
    """Places to search: those of runs, and random combinations of their levels."""
    tried = np.unique(np.column_stack(found.codes), axis=0)
    rng = np.random.default_rng(0)
    selected = tried[rng.permutation(len(tried))[:MAX_CANDIDATES]]
    levels = [levels_of(found, j, LEVELS_PER_SETTING) for j in range(len(found.settings))]
    new = np.column_stack([rng.choice(level, MAX_CANDIDATES) for level in levels])
    return np.unique(np.vstack([selected, new]), axis=0)


def best_place(found: Model) -> NDArray[np.int64]:
    """The place with the lowest mean plus standard error, so that an uncertain place is not called best."""
    places = candidates(found)
    values = found.at(places)
    return np.asarray(places[int(np.argmin(values.mean(axis=0) + values.std(axis=0)))])
