"""A response surface over settings: orthonormal main effects and pairwise products, with shrinkage per effect.

The surface is a polynomial chaos expansion. Main effects and their products are orthonormal under the tried levels, so
the squared coefficients are shares of the variance, Sobol's indices (Sudret, Reliability Engineering & System Safety
93, 2008; functional ANOVA of hyper-parameters: Hutter, Hoos, Leyton-Brown, ICML 2014). Each effect has its own
variance, which maximises the marginal likelihood (empirical Bayes): unimportant effects shrink to zero, and few runs
give wide intervals.
"""

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
PRODUCT_PRIOR = 0.3  # prior mean of the variance of a product, relative to a main effect
MIN_SPREAD = 1e-3  # a function that adds less spread to the previous ones is dropped
MIN_LOG_VARIANCE, MAX_LOG_VARIANCE = -14.0, 3.0  # of an effect, for y with variance 1
MIN_LOG_NOISE = float(np.log(1e-4))


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


@dataclass(frozen=True)
class Surface:
    """A fitted surface: `mean` and `covariance` of the coefficients (of the scaled columns minus their `means`), and
    the variances of each effect and of the noise.
    """

    effects: tuple[Effect, ...]
    means: Floats
    mean: Floats
    covariance: Floats
    variances: Floats
    noise: float
    centre: float

    def slices(self) -> list[slice]:
        """The positions of the coefficients of each effect."""
        ends = np.cumsum([e.prior.size for e in self.effects])
        return [slice(int(end - e.prior.size), int(end)) for e, end in zip(self.effects, ends, strict=True)]

    def draws(self, count: int, seed: int = 0) -> Floats:
        """`count` draws of the coefficients from the posterior, one per row."""
        values, vectors = np.linalg.eigh(self.covariance)
        root = vectors * np.sqrt(np.maximum(values, 0))
        noise = np.random.default_rng(seed).standard_normal((count, self.mean.size))
        return np.asarray(self.mean + noise @ root.T)


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


def fit(y: Floats, effects: Sequence[Effect], start: Floats | None = None) -> Surface:
    """The surface with the largest marginal likelihood for values `y` with a variance of about 1."""
    from scipy.optimize import minimize

    centre = float(y.mean())
    columns = np.column_stack([e.values for e in effects])
    means = columns.mean(axis=0)
    columns = columns - means
    gram, with_y, power = columns.T @ columns, columns.T @ (y - centre), float(np.sum((y - centre) ** 2))
    groups = np.repeat(np.arange(len(effects)), [e.prior.size for e in effects])
    prior = np.array([PRODUCT_PRIOR if len(e.positions) > 1 else 1.0 for e in effects])
    problem = Problem(gram, with_y, power, y.size, groups, prior)
    first = np.log(np.append(prior * 0.3 / len(effects), 0.3)) if start is None else start
    bounds = [(MIN_LOG_VARIANCE, MAX_LOG_VARIANCE)] * len(effects) + [(MIN_LOG_NOISE, MAX_LOG_VARIANCE)]
    found = minimize(_misfit, first, (problem,), "L-BFGS-B", jac=True, bounds=bounds, options={"maxiter": 200})
    variances, noise = np.exp(found.x[:-1]), float(np.exp(found.x[-1]))
    scale = np.sqrt(variances[groups])
    inverse = np.linalg.inv(scale[:, None] * gram * scale + noise * np.eye(scale.size))
    covariance = noise * scale[:, None] * inverse * scale
    return Surface(tuple(effects), means, covariance @ with_y / noise, covariance, variances, noise, centre)


@dataclass(frozen=True)
class Problem:
    """The inputs of the marginal likelihood for columns X and n values y: X'X, X'y, y'y, n, the effect of each column
    (`groups`), and the prior mean of the variance of each effect.
    """

    gram: Floats
    with_y: Floats
    power: float
    n: int
    groups: NDArray[np.int64]
    prior: Floats


def _misfit(logs: Floats, problem: Problem) -> tuple[float, Floats]:
    """Negative log marginal likelihood (integrated over the coefficients), and its gradient."""
    gram, with_y, power, n = problem.gram, problem.with_y, problem.power, problem.n
    groups, prior = problem.groups, problem.prior
    variances, noise = np.exp(logs[:-1]), float(np.exp(logs[-1]))
    scale = np.sqrt(variances[groups])
    whole = scale[:, None] * gram * scale + noise * np.eye(scale.size)
    lower = np.linalg.cholesky(whole)
    half = np.linalg.inv(lower)
    inverse = half.T @ half
    beta = scale * (inverse @ (scale * with_y))
    quadratic = max((power - float(with_y @ beta)) / noise, 0.0)
    log_det = (n - 1 - scale.size) * np.log(noise) + 2 * np.sum(np.log(np.diag(lower)))
    score = (with_y - gram @ beta) / noise
    explained = np.bincount(groups, 1 - noise * np.diag(inverse), len(variances))
    pulled = variances * np.bincount(groups, score**2, len(variances))
    residual = max(power - 2 * float(with_y @ beta) + float(beta @ gram @ beta), 0.0)
    slope = 0.5 * (explained - pulled) + variances / prior
    slope_noise = 0.5 * (n - 1 - explained.sum() - residual / noise)
    value = 0.5 * (log_det + quadratic) + float(np.sum(variances / prior))
    return float(value), np.append(slope, slope_noise)


def left_over(surface: Surface, y: Floats) -> Floats:
    """The residuals of the surface on the values it was fitted to."""
    columns = np.column_stack([e.values for e in surface.effects])
    return np.asarray(y - surface.centre - (columns - surface.means) @ surface.mean)
