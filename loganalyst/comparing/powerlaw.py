"""Power laws with a limit, fitted to logarithms by a robust loss, with a bootstrap: many fits at once."""

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

TUNING = 1.345  # Huber's loss is quadratic up to so many robust standard deviations: 95 % efficient for normal noise
ROUNDS, EVERY = 120, 10  # of fitting; after so many the threshold is set anew
SETTLED = 1e-6  # share of the cost by which the last round made it less, below which a fit is done
MOST = 0.98  # of many fits that must be: some have no end
BOOTSTRAPS = 300
INTERVAL = (0.05, 0.95)
EXPONENTS = (0.03, 0.1, 0.3, 0.8)
LIMITS = (0.01, 0.5, 0.9)  # of the least loss
EXPONENT_RANGE = (1e-3, 5.0)


@dataclass(frozen=True)
class Law:
    """L = exp(theta[0]) + sum over columns i of exp(theta[1+2i] - exp(theta[2+2i]) log x_i), `theta` as fitted and
    `drawn` (draws x parameters) from the bootstrap. `residual` is the robust spread of log L around it.
    """

    theta: Floats
    drawn: Floats
    residual: float

    def at(self, x: Floats) -> Floats:
        """The loss at rows of x."""
        return np.asarray(np.exp(_predicted(np.log(x), self.theta[None, :])[0][0]))

    def draws_at(self, x: Floats) -> Floats:
        """The same of each draw (draws x rows)."""
        return np.asarray(np.exp(_predicted(np.log(x), self.drawn)[0]))

    def intervals(self) -> dict[str, tuple[float, float, float]]:
        """Limit E, factors and exponents, each with both ends of its 90 % interval."""
        names = ["E", "A", "alpha", "B", "beta"][: self.theta.size]
        low, high = np.quantile(self.drawn, INTERVAL, axis=0)
        rows = zip(names, np.exp(self.theta), np.exp(low), np.exp(high), strict=True)
        return {name: (float(a), float(b), float(c)) for name, a, b, c in rows}


def fit(x: Floats, loss: Floats, draws: int = BOOTSTRAPS) -> Law:
    """The law of n positive losses over x (n x 1, or n x 2: parameters and tokens).

    Huber's loss on log L from several starts, as Hoffmann et al. 2022 (arXiv:2203.15556, approach 3) fit it, its
    threshold from the residuals' own spread; intervals from resampled residuals, widened for the parameters they lost.
    """
    from scipy.stats import t

    logs, y = np.log(x), np.log(loss)
    theta, cost = _solve(logs, np.tile(y, (len(starts := _starts(logs, loss)), 1)), starts)
    best = theta[int(np.argmin(cost))]
    fitted = _predicted(logs, best[None, :])[0][0]
    rest = y - fitted
    free = max(y.size - best.size, 1)
    rng = np.random.default_rng(0)
    wide = (rest - rest.mean()) * np.sqrt(y.size / free)
    again = fitted + rng.choice(wide, (draws, y.size))
    drawn, _ = _solve(logs, again, np.tile(best, (draws, 1)))
    widened = best + (drawn - best) * float(t.isf(0.05, free)) / 1.645
    return Law(best, _bounded(widened, logs), _spread(rest[None, :])[0])


def _starts(logs: Floats, loss: Floats) -> Floats:
    """Limits and exponents on a grid, each factor such that its term makes an equal part of the largest loss."""
    k = logs.shape[1]
    rows = []
    for limit, *exponents in product(LIMITS, *[EXPONENTS] * k):
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


def _spread(rest: Floats) -> Floats:
    return np.maximum(np.median(np.abs(rest), axis=1) * 1.4826, 1e-9)


def _solve(logs: Floats, y: Floats, theta: Floats) -> tuple[Floats, Floats]:
    """Levenberg and Marquardt on reweighted residuals, all fits at once; parameters and costs."""
    damping = np.full(len(theta), 1e-2)
    theta = _bounded(theta, logs)
    predicted, gradient = _predicted(logs, theta)
    scale = TUNING * _spread(y - predicted)
    for i in range(ROUNDS):
        rest = y - predicted
        if i % EVERY == 0:  # the threshold follows the residuals, not at every round: else nothing converges
            scale = TUNING * _spread(rest)
        weights = np.minimum(1.0, scale[:, None] / np.maximum(np.abs(rest), 1e-300))
        weighted = (gradient * weights[:, :, None]).swapaxes(1, 2)
        normal, slope = weighted @ gradient, (weighted @ rest[:, :, None])[:, :, 0]
        diagonal = np.einsum("bpp->bp", normal)
        normal = normal + (damping[:, None] * (diagonal + 1e-9))[:, :, None] * np.eye(theta.shape[1])
        tried = _bounded(theta + np.clip(np.linalg.solve(normal, slope[:, :, None])[:, :, 0], -2, 2), logs)
        new, new_gradient = _predicted(logs, tried)
        before, after = _cost(rest, scale), _cost(y - new, scale)
        better = after < before
        damping = np.clip(np.where(better, damping / 3, damping * 4), 1e-9, 1e6)
        theta = np.where(better[:, None], tried, theta)
        predicted = np.where(better[:, None], new, predicted)
        gradient = np.where(better[:, None, None], new_gradient, gradient)
        if i % EVERY == EVERY - 1 and np.mean(np.where(better, before - after, 0) <= SETTLED * before) > MOST:
            break
    return theta, _cost(y - predicted, np.full(len(theta), float(np.median(scale))))


def _cost(rest: Floats, scale: Floats) -> Floats:
    size, limit = np.abs(rest), scale[:, None]
    return np.asarray(np.where(size <= limit, 0.5 * rest**2, limit * (size - 0.5 * limit)).sum(axis=1))


def _bounded(theta: Floats, logs: Floats) -> Floats:
    """Limits and factors within what a float can hold, exponents within EXPONENT_RANGE."""
    out = np.clip(theta, -60.0, 60.0 + EXPONENT_RANGE[1] * float(np.abs(logs).max()))
    out[:, 2::2] = np.clip(theta[:, 2::2], *np.log(EXPONENT_RANGE))
    return out
