"""Which settings matter: shares of the variance from the surface, and a permutation test that holds its rate."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.auditing.failurecontrasts import adjusted
from loganalyst.comparing.surfaceterms import Effect, Surface, fit, left_over

Floats = NDArray[np.float64]

RATE = 0.05  # false discovery rate at which a setting is called important
PERMUTATIONS = 1999
MANY = 400  # runs from which on the limit of the permutations is drawn from instead,
DRAWN = 19_999  # so often
PRODUCT = 2.0  # a product must be so much less likely than a main effect
DRAWS = 400
INTERVAL = (0.05, 0.95)


def shares(surface: Surface, settings: int, draws: Floats) -> tuple[Floats, Floats, Floats]:
    """Shares of the variance by posterior draw: of each setting with its products (draws x settings), of each effect
    alone (draws x effects), and what no effect explains (draws).
    """
    powers = np.column_stack(
        [(draws[:, s] ** 2 @ e.prior) for s, e in zip(surface.slices(), surface.effects, strict=True)]
    )
    total = powers.sum(axis=1) + surface.noise
    alone = powers / total[:, None]
    member = np.array([[j in e.of for j in range(settings)] for e in surface.effects], dtype=float)
    return alone @ member, alone, surface.noise / total


def chances(y: Floats, effects: Sequence[Effect], own: Sequence[Sequence[Effect]]) -> Floats:
    """For each setting the chance of so strong an effect if it had none: the least one of its `own` main effect and
    products, against what the other `effects` leave, that permuted over the runs (Westfall and Young 1993).

    Where settings were drawn independently of each other (a grid, a random search) that is exact whatever the surface
    of the others is; where they were changed together it errs to the safe side (Freedman and Lane 1983).
    """
    rests = (_rest(y, [e for e in effects if j not in e.of]) for j in range(len(own)))
    return np.array([_chance(some, rest) for some, rest in zip(own, rests, strict=True)])


def pair_chances(pairs: Sequence[Effect], mains: Surface, y: Floats) -> Floats:
    """The same for products, against what all main effects leave."""
    rest = left_over(mains, y)
    return np.array([_chance([e], rest) for e in pairs])


def _rest(y: Floats, others: Sequence[Effect]) -> Floats:
    """Fitted anew without the setting: what is permuted must not know of it."""
    return left_over(fit(y, others), y) if others else y


def _chance(effects: Sequence[Effect], rest: Floats) -> float:
    """Of the least likely squared projection of `rest` on the columns of an effect, if it has to do with none."""
    columns = np.column_stack([e.values for e in effects])
    columns, rest = columns - columns.mean(axis=0), rest - rest.mean()
    drawn = _normal(columns, rest) if rest.size > MANY else rest[_orders(rest.size)] @ columns
    starts = np.cumsum([0, *(e.prior.size for e in effects[:-1])])
    powers = np.add.reduceat(np.vstack([columns.T @ rest, drawn]) ** 2, starts, axis=1)
    order = np.argsort(np.argsort(-powers * (1 + 1e-12 * (np.arange(len(powers)) == 0))[:, None], axis=0), axis=0)
    penalty = np.array([1.0 if len(e.of) == 1 or len(effects) == 1 else PRODUCT for e in effects])
    least = np.min((1 + order) * penalty, axis=1)
    return float(np.count_nonzero(least <= least[0])) / len(least)


@cache
def _orders(n: int) -> NDArray[np.int64]:
    """Orders of n runs by chance, a row each."""
    return np.argsort(np.random.default_rng(0).random((PERMUTATIONS, n)), axis=1)


def _normal(columns: Floats, rest: Floats) -> Floats:
    """What permuted projections tend to for many runs: they are normal then (Hoeffding 1951)."""
    values, vectors = np.linalg.eigh(columns.T @ columns * float(rest @ rest) / (rest.size - 1))
    noise = np.random.default_rng(0).standard_normal((DRAWN, values.size))
    return np.asarray((noise * np.sqrt(np.maximum(values, 0))) @ vectors.T)


def discovery(p: Floats) -> Floats:
    """False discovery rates of some chances (Benjamini and Hochberg 1995)."""
    return adjusted(pl.Series(p)).to_numpy() if p.size else p
