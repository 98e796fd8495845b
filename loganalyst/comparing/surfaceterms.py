"""The terms of a response surface: main effects that are orthonormal under the tried levels, and their products."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loganalyst.comparing.settingspace import Setting

Floats = NDArray[np.float64]

MAX_DEGREE = 4  # of the polynomials of a numeric setting
MAX_CHOICES = 12  # separate levels of a choice; rarer ones share one level
PRODUCT_DEGREES = ((0, 0), (0, 1), (1, 0), (1, 1))  # degrees minus 1 of products of two numeric settings
MAX_CROSSED = 8  # settings whose products are tested
MIN_SPREAD = 1e-3  # a function that adds less spread to the previous ones is dropped


@dataclass(frozen=True)
class Effect:
    """The columns of one main effect or product: `positions` are those of its settings, `prior` the relative variance
    of each coefficient (sum 1), `values` the columns (n x m) multiplied by the square root of `prior`.
    """

    positions: tuple[int, ...]
    prior: Floats
    values: Floats


@dataclass(frozen=True)
class Basis:
    """The main-effect functions of one setting: `table` has one row per level and one column per function, orthonormal
    under the shares `weights` of the levels.
    """

    table: Floats
    prior: Floats
    weights: Floats


def basis(setting: Setting, codes: NDArray[np.int64], degree: int = MAX_DEGREE) -> Basis:
    """The functions of one setting over its levels; levels that no run has get weight 0."""
    weights = np.bincount(codes, minlength=len(setting.levels)) / codes.size
    tried = int(np.count_nonzero(weights))
    if setting.scale == "choice":
        raw = np.eye(len(setting.levels))[:, np.argsort(-weights, kind="stable")[: min(tried - 1, MAX_CHOICES - 1)]]
        prior = np.ones(raw.shape[1])
    else:
        degrees = np.arange(1, min(degree, tried - 1) + 1)
        raw = np.polynomial.chebyshev.chebvander(setting.at, int(degrees.size))[:, 1:].astype(np.float64)
        prior = 1.0 / degrees.astype(np.float64) ** 2
    table = _orthonormal(raw, weights)
    prior = prior[: table.shape[1]]
    return Basis(table, prior / max(prior.sum(), 1e-300), weights)


def _orthonormal(raw: Floats, weights: Floats) -> Floats:
    """The columns made orthonormal to 1 and each other under the weights, in order. Stops at the first column that the
    previous ones determine, as for levels in two clusters.
    """
    root = np.sqrt(weights)
    whole = np.column_stack([np.ones(len(raw)), raw])
    _, upper = np.linalg.qr(root[:, None] * whole)
    dependent = np.flatnonzero(np.abs(np.diag(upper)) < MIN_SPREAD)
    kept = int(dependent[0]) if dependent.size else whole.shape[1]
    whole, upper = whole[:, :kept], upper[:kept, :kept]
    sign = np.sign(np.diag(upper))
    table = np.linalg.solve(upper.T, whole.T).T * np.where(sign == 0, 1, sign)
    return np.asarray(table[:, 1:])


def main_effects(bases: Sequence[Basis], codes: Sequence[NDArray[np.int64]]) -> list[Effect]:
    """One main effect per setting."""
    return [
        Effect((j,), b.prior, b.table[c] * np.sqrt(b.prior)) for j, (b, c) in enumerate(zip(bases, codes, strict=True))
    ]


def product(
    pair: tuple[int, int], bases: Sequence[Basis], settings: Sequence[Setting], codes: Sequence[NDArray[np.int64]]
) -> Effect:
    """The product of two main effects; for numeric settings only their slopes and curvatures."""
    j, k = pair
    a, b = (_functions(bases[i], settings[i]) for i in (j, k))
    columns = [(p, q) for p in range(a) for q in range(b)]
    if settings[j].scale != "choice" and settings[k].scale != "choice":
        columns = [c for c in PRODUCT_DEGREES if c in columns]
    p, q = (np.array(side) for side in zip(*columns, strict=True))
    prior = bases[j].prior[p] * bases[k].prior[q]
    prior = prior / prior.sum()
    values = bases[j].table[codes[j]][:, p] * bases[k].table[codes[k]][:, q]
    return Effect((j, k), prior, values * np.sqrt(prior))


def _functions(b: Basis, setting: Setting) -> int:
    """How many functions of a setting enter a product."""
    return min(b.prior.size, 4 if setting.scale == "choice" else 2)
