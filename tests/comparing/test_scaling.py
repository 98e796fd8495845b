"""Scaling laws over the sizes of runs: verdicts, joint fits, and the compute optimum."""

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize_scalar

from loganalyst.comparing.scaling import scaling

E, A, ALPHA, B, BETA = 1.69, 406.4, 0.34, 410.7, 0.28  # Hoffmann et al. 2022


def chinchilla(n, d):
    return E + A / n**ALPHA + B / d**BETA


def noisy(loss, seed, noise=0.01):
    return loss * np.exp(noise * np.random.default_rng(seed).standard_normal(loss.size))


def grid(sizes=6):
    n, d = (v.ravel() for v in np.meshgrid(np.geomspace(1e7, 1e9, sizes), np.geomspace(2e8, 2e10, sizes)))
    return n, d


def asked(n, d, loss):
    """Runs of these sizes; d None: not logged."""
    n = np.asarray(n, dtype=float)
    columns = {"parameters": n, "tokens": d, "compute": None if d is None else 6 * n * d, "samples": None}
    sizes = pl.DataFrame(
        {k: pl.Series([None] * n.size if v is None else v, dtype=pl.Float64) for k, v in columns.items()}
    )
    return scaling([f"r{i}" for i in range(n.size)], sizes, pl.Series(loss), pl.Series(range(n.size)))


def optimum(compute):
    """Parameters and loss that are best for this much N·D, by search along it."""
    ends = np.log(1e6), np.log(1e12)
    found = minimize_scalar(lambda log: chinchilla(np.exp(log), compute / np.exp(log)), bounds=ends, method="bounded")
    return np.exp(found.x), found.fun


def test_both_axes_are_fitted_at_once_where_both_vary():
    n, d = grid()
    found = asked(n, d, noisy(chinchilla(n, d), 2, 0.003))
    both = found.fits[0]

    assert (both.x, both.verdict) == ("parameters, tokens", "fitted")
    assert both.parameters["alpha"][1] <= ALPHA <= both.parameters["alpha"][2]
    assert both.parameters["beta"][1] <= BETA <= both.parameters["beta"][2]
    assert found.fits[-1].x == "compute"


def test_the_largest_run_is_compared_with_the_optimum_for_its_compute():
    """The optimum is that of the loss itself along equal compute."""
    n, d = grid()
    found = asked(n, d, chinchilla(n, d)).optimum
    best, least = optimum(2e19)

    assert found is not None
    assert (found.parameters, found.data) == (pytest.approx(1e9), pytest.approx(2e10))
    assert found.best_parameters[0] == pytest.approx(best, rel=0.01)
    assert found.best_data[0] == pytest.approx(2e19 / best, rel=0.01)
    assert found.gain[0] == pytest.approx(chinchilla(1e9, 2e10) - least, abs=1e-4)


def test_a_run_at_the_optimum_is_well_balanced():
    n, d = grid()
    best, _ = optimum(2e20)
    n, d = np.append(n, best), np.append(d, 2e20 / best)
    found = asked(n, d, noisy(chinchilla(n, d), 3, 0.002)).optimum

    assert found is not None
    assert found.text.startswith("well balanced")


@pytest.mark.parametrize(
    ("n", "verdict", "says"),
    [
        (np.geomspace(1e6, 1e8, 4), "too_few", "4 different sizes"),
        (np.geomspace(1e6, 5e6, 8), "too_narrow", "a factor of 5"),
    ],
)
def test_too_few_or_too_narrow_sizes_are_not_fitted(n, verdict, says):
    found = asked(n, None, E + A * n**-ALPHA)

    assert [f.verdict for f in found.fits] == [verdict]
    assert says in found.fits[0].text


def test_an_exponent_lost_in_noise_is_not_determined():
    n = np.geomspace(1e7, 2e8, 5)
    found = asked(n, None, noisy(E + A * n**-ALPHA, 5, 0.1))

    assert [f.verdict for f in found.fits] == ["undetermined"]


def test_sizes_that_grow_together_are_not_separated():
    n = np.geomspace(1e7, 1e9, 12)
    found = asked(n, 20 * n, chinchilla(n, 20 * n))

    assert (found.fits[0].verdict, found.optimum) == ("too_narrow", None)
    assert "grew together" in found.fits[0].text
    assert {f.verdict for f in found.fits[1:3]} == {"undetermined"}


def test_of_each_size_only_the_best_settings_count():
    n = np.repeat(np.geomspace(1e7, 1e9, 6), 2)
    loss = E + A * n**-ALPHA
    loss[1::2] += np.linspace(0.5, 2, 6)  # the same size with a worse rate
    found = asked(n, None, loss)

    assert found.fits[0].runs == 6
    assert found.fits[0].parameters["alpha"][0] == pytest.approx(ALPHA, abs=0.01)


def test_without_sizes_nothing_is_fitted():
    found = asked([1e6] * 3, None, [1.0, 2.0, 3.0])

    assert found.fits == ()
    assert "not logged" in found.why_not
