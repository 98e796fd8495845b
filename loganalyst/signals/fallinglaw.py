"""The law of a falling curve: power law or exponential, its limit, and the gain to come, with errors."""

from typing import Literal

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from loganalyst.signals.robuststatistics import Array, as_floats, blocks, lag1, spread

MAX_FIT_POINTS = 200  # block medians of a fit
MIN_FIT_POINTS = 12
SKIPPED_SHARE = 0.1  # share of the run that is skipped: warm-up and the first fall follow no law
OUTLIER_LIMIT = 5.0  # robust sd around the fit, to which points are clipped for a second fit
FITS = ("power", "exponential")
RATES = {"power": np.geomspace(0.01, 8, 60), "exponential": np.geomspace(0.05, 60, 60)}
ZOOM_ROUNDS = 4  # each tries 21 rates between the neighbours of the best: from steps of 12 % to steps of 1e-5


class Convergence(msgspec.Struct, frozen=True):
    """The better of limit + scale·t^-rate and limit + scale·exp(-rate·t), t = 0..1 over the run, by least squares.

    `rate` is per run for the exponential (1/rate: its time constant in runs). `limit` is the value at infinity. `gain`
    is the expected fall over as many steps again (value at t = 1 minus value at t = 2). The errors are one standard
    error, from the fit's covariance with the residuals' autocorrelation. `explained`: share of the variance.

    >>> import numpy as np
    >>> from loganalyst import signals
    >>> signals.convergence(np.arange(100), np.ones(100)) is None  # it does not fall
    True
    """

    kind: Literal["power", "exponential"]
    rate: float
    rate_error: float
    limit: float
    limit_error: float
    gain: float
    gain_error: float
    explained: float


class _Fit(msgspec.Struct, frozen=True):
    kind: str
    rate: float
    limit: float
    scale: float
    residuals: Array

    @property
    def power(self) -> float:
        return float(np.dot(self.residuals, self.residuals))


def convergence(steps: ArrayLike, values: ArrayLike) -> Convergence | None:
    """Fit a curve where lower is better.

    None for fewer than 12 points after the first tenth of the run, and if the fitted part does not fall. Non-finite
    points are left out; never raises on numeric input.

    >>> import numpy as np
    >>> from loganalyst import signals
    >>> steps = np.arange(1, 1001)
    >>> found = signals.convergence(steps, 2.0 + 5.0 * steps**-0.5)
    >>> found.kind, round(found.limit, 1)
    ('power', 2.0)
    """
    t, y = _window(as_floats(steps), as_floats(values))
    if y.size < MIN_FIT_POINTS or np.ptp(y) == 0:
        return None
    unit = float(np.max(np.abs(y)))
    y = y / unit
    fit = _better_fit(t, y)
    far = OUTLIER_LIMIT * spread(fit.residuals)
    if far > 0 and np.any(np.abs(fit.residuals) > far):
        y = y - fit.residuals + np.clip(fit.residuals, -far, far)
        fit = _better_fit(t, y)
    return _described(fit, t, y, unit) if fit.scale > 0 else None


def _window(t: Array, y: Array) -> tuple[Array, Array]:
    """Steps scaled to 0..1 and values after the first tenth, as block medians."""
    t, y = t[: y.size], y[: t.size]
    keep = np.isfinite(t) & np.isfinite(y)
    t, y = t[keep], np.clip(y[keep], -1e150, 1e150)
    if y.size < MIN_FIT_POINTS or t[-1] <= t[0]:
        return t[:0], y[:0]
    t = (t - t[0]) / (t[-1] - t[0])
    t, y = t[t >= SKIPPED_SHARE], y[t >= SKIPPED_SHARE]
    size = max(1, -(-y.size // MAX_FIT_POINTS))
    return blocks(t, size), blocks(y, size)


def _shapes(kind: str, rates: Array, t: Array) -> NDArray[np.float64]:
    """One row per rate: the distance from the limit as a function of t, scaled to 1 at t = 0.1 (power) or t = 0
    (exponential).
    """
    if kind == "power":
        return np.power(np.maximum(t, SKIPPED_SHARE) / SKIPPED_SHARE, -rates[:, None])
    return np.exp(-rates[:, None] * t)


def _better_fit(t: Array, y: Array) -> _Fit:
    return min((_best_fit(kind, t, y) for kind in FITS), key=lambda f: f.power)


def _best_fit(kind: str, t: Array, y: Array) -> _Fit:
    """Least squares over rate, limit and scale: the rate determines the other two, so only the rate is searched."""
    rates = RATES[kind]
    for _ in range(ZOOM_ROUNDS):
        at = int(np.argmin(_misfits(_shapes(kind, rates, t), y)))
        rates = np.geomspace(rates[max(at - 1, 0)], rates[min(at + 1, rates.size - 1)], 21)
    shapes = _shapes(kind, rates, t)
    at = int(np.argmin(_misfits(shapes, y)))
    g = shapes[at] - shapes[at].mean()
    scale = float(np.dot(g, y) / max(np.dot(g, g), 1e-300))
    limit = float(y.mean() - scale * shapes[at].mean())
    return _Fit(kind, float(rates[at]), limit, scale, y - limit - scale * shapes[at])


def _misfits(shapes: NDArray[np.float64], y: Array) -> Array:
    """Residual sum of squares of the line through each row."""
    g = shapes - shapes.mean(axis=1, keepdims=True)
    d = y - y.mean()
    return as_floats(np.dot(d, d) - (g @ d) ** 2 / np.maximum((g * g).sum(axis=1), 1e-300))


def _greatest_gain(fit: _Fit, t: Array, y: Array) -> float:
    """The greatest fall over as many steps again that a power law above zero allows: the share by which it fell when
    the number of steps last doubled. A fit may tend to a limit below zero, and would then predict a loss near zero.
    """
    half, end = fit.limit + fit.scale * _shapes(fit.kind, np.array([fit.rate]), np.array([t[-1] / 2, t[-1]]))[0]
    impossible = fit.kind == "power" and fit.limit < 0 < y.min() and 0 < end < half
    return float(end * (1 - end / half)) if impossible else float("inf")


def _described(fit: _Fit, t: Array, y: Array, unit: float) -> Convergence:
    """The fit with errors from the covariance of (limit, scale, rate), widened for autocorrelated residuals."""
    rate = np.array([fit.rate])
    ends = np.array([t[-1], 2.0])
    shape, at_ends = _shapes(fit.kind, rate, t)[0], _shapes(fit.kind, rate, ends)[0]

    def slope(x: Array) -> Array:
        return np.log(x / SKIPPED_SHARE) if fit.kind == "power" else x

    jacobian = np.column_stack([np.ones_like(t), shape, -fit.scale * slope(t) * shape])
    rho = lag1(fit.residuals)
    variance = fit.power / max(t.size - 3, 1) * (1 + rho) / (1 - rho)
    covariance = np.linalg.pinv(jacobian.T @ jacobian, rcond=1e-14, hermitian=True) * variance
    drop = at_ends[0] - at_ends[1]
    bend = -fit.scale * (slope(ends)[0] * at_ends[0] - slope(ends)[1] * at_ends[1])
    error = np.array([0.0, drop, bend])
    total = float(np.dot(y - y.mean(), y - y.mean()))
    gain = min(float(fit.scale * drop), _greatest_gain(fit, t, y))
    return Convergence(
        kind="power" if fit.kind == "power" else "exponential",
        rate=fit.rate,
        rate_error=float(np.sqrt(covariance[2, 2])),
        limit=fit.limit * unit,
        limit_error=float(np.sqrt(covariance[0, 0])) * unit,
        gain=gain * unit,
        gain_error=float(np.sqrt(max(error @ covariance @ error, 0.0))) * unit,
        explained=1 - fit.power / total,
    )
