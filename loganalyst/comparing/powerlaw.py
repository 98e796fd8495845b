"""Fit power laws with an irreducible loss to logarithms, by a robust loss and with a bootstrap, many fits at once."""

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

HUBER_K = 1.345  # robust standard deviations up to which Huber's loss is quadratic: 95 % efficient for normal noise
MAX_ROUNDS, RESCALE_EVERY = 120, 10  # rounds of a fit; rounds between two updates of its threshold
MIN_COST_DECREASE = 1e-6  # a fit converged if a round reduces its cost by a smaller share
MIN_CONVERGED = 0.98  # share of the fits at which the solver stops: some never converge
BOOTSTRAPS = 300
INTERVAL = (0.05, 0.95)
START_EXPONENTS = (0.03, 0.1, 0.3, 0.8)
START_LIMITS = (0.01, 0.5, 0.9)  # of the irreducible loss, as shares of the smallest loss
EXPONENT_RANGE = (1e-3, 5.0)


@dataclass(frozen=True)
class Law:
    """L = exp(theta[0]) + sum over columns i of exp(theta[1+2i] - exp(theta[2+2i]) log x_i). `theta` is the fit,
    `drawn` (draws x parameters) the bootstrap. `residual` is the robust standard deviation of log L around the fit.
    """

    theta: Floats
    drawn: Floats
    residual: float

    def at(self, x: Floats) -> Floats:
        """The loss at rows of x."""
        return np.asarray(np.exp(_predicted(np.log(x), self.theta[None, :])[0][0]))

    def draws_at(self, x: Floats) -> Floats:
        """The loss at rows of x in each draw (draws x rows)."""
        return np.asarray(np.exp(_predicted(np.log(x), self.drawn)[0]))

    def intervals(self) -> dict[str, tuple[float, float, float]]:
        """Irreducible loss E, factors and exponents, each with both ends of its 90 % interval."""
        names = ["E", "A", "alpha", "B", "beta"][: self.theta.size]
        low, high = np.quantile(self.drawn, INTERVAL, axis=0)
        rows = zip(names, np.exp(self.theta), np.exp(low), np.exp(high), strict=True)
        return {name: (float(a), float(b), float(c)) for name, a, b, c in rows}


def fit(x: Floats, loss: Floats, draws: int = BOOTSTRAPS) -> Law:
    """Fit the law to n positive losses over x (n x 1, or n x 2: parameters and tokens).

    The fit minimises Huber's loss on log L from several starts, as Hoffmann et al. 2022 (arXiv:2203.15556, approach 3).
    The threshold follows the spread of the residuals. The intervals come from resampled residuals, widened for the
    degrees of freedom that the fit used.
    """
    from scipy.stats import t

    logs, y = np.log(x), np.log(loss)
    theta, cost = _solve(logs, np.tile(y, (len(starts := _starts(logs, loss)), 1)), starts)
    best = theta[int(np.argmin(cost))]
    fitted = _predicted(logs, best[None, :])[0][0]
    residuals = y - fitted
    free = max(y.size - best.size, 1)
    rng = np.random.default_rng(0)
    wide = (residuals - residuals.mean()) * np.sqrt(y.size / free)
    again = fitted + rng.choice(wide, (draws, y.size))
    drawn, _ = _solve(logs, again, np.tile(best, (draws, 1)))
    widened = best + (drawn - best) * float(t.isf(0.05, free)) / 1.645  # 1.645: the normal quantile of the same 5 %
    return Law(best, _bounded(widened, logs), _spread(residuals[None, :])[0])


def _starts(logs: Floats, loss: Floats) -> Floats:
    """A grid of limits and exponents. Each factor is chosen so that the terms share the largest loss equally."""
    k = logs.shape[1]
    rows = []
    for limit, *exponents in product(START_LIMITS, *[START_EXPONENTS] * k):
        over = max(float(loss.max()) - limit * float(loss.min()), 1e-12) / k
        terms = [(np.log(over) + a * float(logs[:, i].min()), np.log(a)) for i, a in enumerate(exponents)]
        rows.append([np.log(limit * loss.min()), *(v for term in terms for v in term)])
    return np.array(rows)


def _predicted(logs: Floats, theta: Floats) -> tuple[Floats, Floats]:
    """Logarithms of L (fits x n), and its gradient (fits x n x parameters)."""
    exponents = np.exp(theta[:, 2::2])
    terms = theta[:, None, 1::2] - exponents[:, None, :] * logs[None, :, :]
    every = np.concatenate([np.broadcast_to(theta[:, :1, None], (*terms.shape[:2], 1)), terms], axis=2)
    top = every.max(axis=2, keepdims=True)
    shares = np.exp(every - top)
    total = shares.sum(axis=2, keepdims=True)
    shares = shares / total
    gradient = np.empty((*terms.shape[:2], theta.shape[1]))
    gradient[:, :, 0], gradient[:, :, 1::2] = shares[:, :, 0], shares[:, :, 1:]
    gradient[:, :, 2::2] = -shares[:, :, 1:] * exponents[:, None, :] * logs[None, :, :]
    return (top + np.log(total))[:, :, 0], gradient


def _spread(residuals: Floats) -> Floats:
    """Robust standard deviation of each row: the median absolute deviation, scaled for normal noise."""
    return np.maximum(np.median(np.abs(residuals), axis=1) * 1.4826, 1e-9)


def _solve(logs: Floats, y: Floats, theta: Floats) -> tuple[Floats, Floats]:
    """Parameters and costs of all fits, by Levenberg-Marquardt on reweighted residuals."""
    damping = np.full(len(theta), 1e-2)
    theta = _bounded(theta, logs)
    predicted, gradient = _predicted(logs, theta)
    scale = HUBER_K * _spread(y - predicted)
    for i in range(MAX_ROUNDS):
        residuals = y - predicted
        if i % RESCALE_EVERY == 0:  # updating the threshold in every round would prevent convergence
            scale = HUBER_K * _spread(residuals)
        weights = np.minimum(1.0, scale[:, None] / np.maximum(np.abs(residuals), 1e-300))
        weighted = (gradient * weights[:, :, None]).swapaxes(1, 2)
        normal, slope = weighted @ gradient, (weighted @ residuals[:, :, None])[:, :, 0]
        diagonal = np.einsum("bpp->bp", normal)
        normal = normal + (damping[:, None] * (diagonal + 1e-9))[:, :, None] * np.eye(theta.shape[1])
        tried = _bounded(theta + np.clip(np.linalg.solve(normal, slope[:, :, None])[:, :, 0], -2, 2), logs)
        new, new_gradient = _predicted(logs, tried)
        before, after = _cost(residuals, scale), _cost(y - new, scale)
        better = after < before
        damping = np.clip(np.where(better, damping / 3, damping * 4), 1e-9, 1e6)
        theta = np.where(better[:, None], tried, theta)
        predicted = np.where(better[:, None], new, predicted)
        gradient = np.where(better[:, None, None], new_gradient, gradient)
        converged = np.where(better, before - after, 0) <= MIN_COST_DECREASE * before
        if i % RESCALE_EVERY == RESCALE_EVERY - 1 and np.mean(converged) > MIN_CONVERGED:
            break
    return theta, _cost(y - predicted, np.full(len(theta), float(np.median(scale))))


def _cost(residuals: Floats, scale: Floats) -> Floats:
    """Huber's loss of each fit."""
    size, limit = np.abs(residuals), scale[:, None]
    return np.asarray(np.where(size <= limit, 0.5 * residuals**2, limit * (size - 0.5 * limit)).sum(axis=1))


def _bounded(theta: Floats, logs: Floats) -> Floats:
    """Parameters with limits and factors that a float can represent, and exponents within EXPONENT_RANGE."""
    out = np.clip(theta, -60.0, 60.0 + EXPONENT_RANGE[1] * float(np.abs(logs).max()))
    out[:, 2::2] = np.clip(theta[:, 2::2], *np.log(EXPONENT_RANGE))
    return out
