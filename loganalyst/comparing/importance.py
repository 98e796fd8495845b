"""Importance of settings: shares of the variance from the response surface, and a permutation test."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.auditing.failurecontrasts import adjusted
from loganalyst.comparing.surfacefit import Surface, fit, left_over
from loganalyst.comparing.surfaceterms import Effect

Floats = NDArray[np.float64]

MAX_FALSE_DISCOVERY_RATE = 0.05  # of an important setting
PERMUTATIONS = 1999
MIN_RUNS_FOR_NORMAL = 400  # with more runs, draw from the normal limit of the permutation distribution instead
NORMAL_DRAWS = 19_999
PRODUCT_PENALTY = 2.0  # factor on the p-value of a product, against a main effect
POSTERIOR_DRAWS = 400
INTERVAL = (0.05, 0.95)


def shares(surface: Surface, settings: int, draws: Floats) -> tuple[Floats, Floats, Floats]:
    """Shares of the variance in each posterior draw: of each setting with its products (draws x settings), of each
    single effect (draws x effects), and of the noise (draws).
    """
    powers = np.column_stack(
        [(draws[:, s] ** 2 @ e.prior) for s, e in zip(surface.slices(), surface.effects, strict=True)]
    )
    total = powers.sum(axis=1) + surface.noise
    alone = powers / total[:, None]
    member = np.array([[j in e.positions for j in range(settings)] for e in surface.effects], dtype=float)
    return alone @ member, alone, surface.noise / total


def chances(y: Floats, effects: Sequence[Effect], own: Sequence[Sequence[Effect]]) -> Floats:
    """The p-value of each setting: the smallest over its `own` main effect and products, by permuting the residuals of
    the other `effects` over the runs (Westfall and Young 1993).

    The test is exact for any surface if the settings were drawn independently (a grid, a random search). It is
    conservative if settings were changed together (Freedman and Lane 1983).
    """
    residuals = (_residuals(y, [e for e in effects if j not in e.positions]) for j in range(len(own)))
    return np.array([_min_p(tested, left) for tested, left in zip(own, residuals, strict=True)])


def pair_chances(pairs: Sequence[Effect], mains: Surface, y: Floats) -> Floats:
    """The p-value of each product, on the residuals of all main effects."""
    residuals = left_over(mains, y)
    return np.array([_min_p([e], residuals) for e in pairs])


def _residuals(y: Floats, others: Sequence[Effect]) -> Floats:
    """Residuals of a new fit without the tested setting: the permuted values must not depend on it."""
    return left_over(fit(y, others), y) if others else y


def _min_p(effects: Sequence[Effect], residuals: Floats) -> float:
    """The p-value of the smallest p-value over the effects, each by the squared projection of the residuals."""
    columns = np.column_stack([e.values for e in effects])
    columns, residuals = columns - columns.mean(axis=0), residuals - residuals.mean()
    if residuals.size > MIN_RUNS_FOR_NORMAL:
        drawn = _normal_projections(columns, residuals)
    else:
        drawn = residuals[_permutations(residuals.size)] @ columns
    starts = np.cumsum([0, *(e.prior.size for e in effects[:-1])])
    powers = np.add.reduceat(np.vstack([columns.T @ residuals, drawn]) ** 2, starts, axis=1)
    # row 0 is the observed one; the tiny factor ranks it before equal permuted ones
    order = np.argsort(np.argsort(-powers * (1 + 1e-12 * (np.arange(len(powers)) == 0))[:, None], axis=0), axis=0)
    penalty = np.array([1.0 if len(e.positions) == 1 or len(effects) == 1 else PRODUCT_PENALTY for e in effects])
    least = np.min((1 + order) * penalty, axis=1)
    return float(np.count_nonzero(least <= least[0])) / len(least)


@cache
def _permutations(n: int) -> NDArray[np.int64]:
    """Random permutations of n runs, one per row."""
    return np.argsort(np.random.default_rng(0).random((PERMUTATIONS, n)), axis=1)


def _normal_projections(columns: Floats, residuals: Floats) -> Floats:
    """Draws of the limit of permuted projections for many runs, which is normal (Hoeffding 1951)."""
    values, vectors = np.linalg.eigh(columns.T @ columns * float(residuals @ residuals) / (residuals.size - 1))
    noise = np.random.default_rng(0).standard_normal((NORMAL_DRAWS, values.size))
    return np.asarray((noise * np.sqrt(np.maximum(values, 0))) @ vectors.T)


def discovery(p: Floats) -> Floats:
    """False discovery rates of p-values (Benjamini and Hochberg 1995)."""
    return adjusted(pl.Series(p)).to_numpy() if p.size else p
