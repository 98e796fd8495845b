"""Fits of a falling curve, compared with scipy's least squares."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import curve_fit

from loganalyst.signals.fallinglaw import convergence
from loganalyst.signals.robuststatistics import lag1

Array = NDArray[np.float64]
N = 180
T = np.linspace(0, 1, N)
LAWS: dict[str, Callable[[Array, float, float, float], Array]] = {
    "power": lambda t, limit, scale, rate: limit + scale * (np.maximum(t, 1e-3) / 0.1) ** -rate,
    "exponential": lambda t, limit, scale, rate: limit + scale * np.exp(-rate * t),
}


def noisy(kind: str, rate: float, seed: int = 0, noise: float = 0.02) -> Array:
    return LAWS[kind](T, 1.0, 2.0, rate) + np.random.default_rng(seed).normal(0, noise, N)


@pytest.mark.parametrize("kind", LAWS)
@pytest.mark.parametrize("rate", [0.5, 1.0, 2.0])
def test_fits_are_those_of_curve_fit(kind: str, rate: float) -> None:
    """Rate, limit and their errors agree with scipy's after the first tenth, apart from autocorrelation."""
    y, kept = noisy(kind, rate), T >= 0.1
    known, covariance = curve_fit(LAWS[kind], T[kept], y[kept], p0=(0.9, 1.5, rate), maxfev=20_000)
    rho = lag1(y[kept] - LAWS[kind](T[kept], *known))
    limit_error, _, rate_error = np.sqrt(np.diag(covariance) * (1 + rho) / (1 - rho))
    found = convergence(np.arange(N) * 50, y)

    assert found is not None
    assert (found.kind, found.rate, found.limit) == (
        kind, pytest.approx(known[2], rel=5e-3), pytest.approx(known[0], abs=0.1 * limit_error),
    )  # fmt: skip
    assert found.limit_error == pytest.approx(limit_error, rel=0.05)
    assert found.rate_error == pytest.approx(rate_error, rel=0.05)


@pytest.mark.parametrize("kind", LAWS)
def test_the_true_values_lie_within_the_errors(kind: str) -> None:
    """In nine of ten of 200 noisy curves, two standard errors contain the limit and the gain."""
    truth = LAWS[kind](np.array([1.0, 2.0]), 1.0, 2.0, 1.0)
    found = [convergence(T, noisy(kind, 1.0, seed)) for seed in range(200)]
    limits = sum(f is not None and abs(f.limit - 1.0) < 2 * f.limit_error for f in found)
    gains = sum(f is not None and abs(f.gain - (truth[0] - truth[1])) < 2 * f.gain_error for f in found)

    assert limits >= 180
    assert gains >= 180


def test_autocorrelated_noise_widens_the_errors() -> None:
    """The error of the limit is right under AR(1) noise too."""
    inside = 0
    for seed in range(100):
        noise = np.random.default_rng(seed).normal(0, 0.02, N)
        for i in range(1, N):
            noise[i] += 0.7 * noise[i - 1]
        fit = convergence(T, LAWS["exponential"](T, 1.0, 2.0, 3.0) + noise)
        inside += fit is not None and abs(fit.limit - 1.0) < 2 * fit.limit_error

    assert inside >= 85


def test_a_curve_of_any_length_has_the_same_law() -> None:
    """100,000 points give the exponent of the 180 they are condensed to."""
    t = np.linspace(0, 1, 100_000)
    y = LAWS["power"](t, 1.0, 2.0, 0.7) + np.random.default_rng(0).normal(0, 0.05, t.size)
    fit = convergence(np.arange(t.size), y)

    assert fit is not None
    assert fit.rate == pytest.approx(0.7, abs=3 * fit.rate_error)
    assert fit.rate_error < 0.02


@pytest.mark.parametrize("factor", [1e-12, 1e9])
def test_scale_does_not_matter(factor: float) -> None:
    """Values and steps in other units give the same rate, and the limit in those units."""
    one, other = convergence(T, noisy("power", 1.0)), convergence(1e6 * T, factor * noisy("power", 1.0))

    assert one is not None
    assert other is not None
    assert (other.rate, other.limit) == (pytest.approx(one.rate), pytest.approx(factor * one.limit))


def test_single_outliers_do_not_count() -> None:
    """A spike of a hundred times the noise moves the limit by less than its error."""
    y = noisy("exponential", 4.0)
    spiked = y.copy()
    spiked[[60, 120]] += 2.0
    one, other = convergence(T, y), convergence(T, spiked)

    assert one is not None
    assert other is not None
    assert other.limit == pytest.approx(one.limit, abs=one.limit_error)


@pytest.mark.parametrize(
    "values",
    [[], [1.0] * 50, list(range(50)), [float("nan")] * 50, [3.0, 2.0, 1.0], [-1e308] * 20 + [1e308], [0.0] * 40],
    ids=["empty", "constant", "rising", "nan", "short", "huge", "zero"],
)
def test_curves_that_do_not_fall_have_no_law(values: list[float]) -> None:
    assert convergence(np.arange(len(values)), values) is None


def test_a_loss_above_zero_falls_no_faster_than_before() -> None:
    """A law whose limit is below zero fits a loss that halved with each doubling; it would predict a fall to zero."""
    steps = np.arange(1, 61)
    falling = 1.0 - 0.2 * np.log(steps)
    found = convergence(steps, falling)

    assert found is not None
    assert found.limit < 0
    assert found.gain == pytest.approx(falling[-1] * (1 - falling[-1] / falling[29]), rel=0.1)

    below_zero = convergence(steps, falling - 10)
    assert below_zero is not None
    assert below_zero.gain == pytest.approx(0.2 * np.log(2), rel=0.1)
