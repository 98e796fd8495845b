"""Fit a response surface over settings: orthonormal main effects and pairwise products, with shrinkage per effect.

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

from loganalyst.comparing.surfaceterms import Effect, Floats

PRODUCT_PRIOR = 0.3  # prior mean of the variance of a product, relative to a main effect
MIN_LOG_VARIANCE, MAX_LOG_VARIANCE = -14.0, 3.0  # of an effect, for y with variance 1
MIN_LOG_NOISE = float(np.log(1e-4))


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
