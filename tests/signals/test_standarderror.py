"""Changes between stretches of a curve, in standard errors."""

import numpy as np
import pytest

from loganalyst.signals.standarderror import change, change_z, trend_z

FIRST, LAST = (0.0, 0.1), (2 / 3, 1.0)


def test_a_rise_far_below_the_scatter_of_points_is_significant_over_many_points() -> None:
    """A fifth of the scatter over 10,000 points."""
    noise = np.random.default_rng(0).normal(size=10_000)

    found = change(np.linspace(0, 0.4, 10_000) + noise, FIRST, LAST)

    assert found is not None
    assert found.late - found.early == pytest.approx(0.33, abs=0.1)
    assert found.z > 5


def test_noise_alone_is_rarely_beyond_three_standard_errors() -> None:
    """At most 2 % of 400 curves without a trend, of 20 to 1,000 points."""
    rng = np.random.default_rng(1)
    zs = [change_z(rng.normal(size=n), FIRST, LAST) for n in (20, 60, 200, 1000) for _ in range(100)]

    assert np.mean([abs(z) > 3 for z in zs if z is not None]) <= 0.02


def test_autocorrelation_widens_the_error() -> None:
    """A moving average of noise wanders; independent noise of the same size does not."""
    noise = np.random.default_rng(2).normal(size=430)
    wandering = np.convolve(noise, np.ones(31), "valid")[:400]
    apart = np.random.default_rng(3).permutation(wandering)

    slow, fast = change(wandering, FIRST, LAST), change(apart, FIRST, LAST)

    assert slow is not None
    assert fast is not None
    assert slow.error > 2 * fast.error


def test_one_outlier_is_no_change() -> None:
    """One value that is 10,000 times as large as the others."""
    x = np.random.default_rng(4).normal(size=100)
    x[3] = 1e4

    assert abs(change_z(x, FIRST, LAST) or 0.0) < 3


def test_a_saturating_rise_is_significant() -> None:
    """From 1,070 to 5,110 within noise of a tenth of the level."""
    t = np.arange(40)
    x = 5110 - 4040 * np.exp(-t / 6) + np.random.default_rng(5).normal(0, 500, 40)

    assert (change_z(x, FIRST, LAST) or 0.0) > 5


@pytest.mark.parametrize("values", [[], [1.0] * 5, [float("nan")] * 20, [float("inf"), 1.0, 2.0, 3.0, 4.0, 5.0]])
def test_too_few_finite_values(values: list[float]) -> None:
    """Six are needed."""
    assert change(values, FIRST, LAST) is None


def test_a_constant_curve_did_not_change() -> None:
    """The error is above 0 without any scatter."""
    assert change_z([3.0] * 50, FIRST, LAST) == 0.0


def test_the_trend_of_scattered_values() -> None:
    """A rise by less than the scatter, which the first tenth and the last third do not show; 3 of 400 by chance."""
    rng = np.random.default_rng(5)
    rising = np.linspace(0, 1.2, 120) + rng.normal(size=120)
    zs = [trend_z(rng.normal(size=n)) for n in (20, 60, 200, 1000) for _ in range(100)]

    assert (change_z(rising, FIRST, LAST) or 0) < 3.5 < (trend_z(rising) or 0)
    assert np.mean([abs(z) > 3.5 for z in zs if z is not None]) <= 0.0075
    assert trend_z(np.tile([1.0], 30)) == 0.0


def test_a_running_mean_has_a_smaller_trend() -> None:
    """It wanders by chance."""
    noise = np.random.default_rng(2).normal(size=430)
    means = np.convolve(noise, np.ones(31), "valid")[:400]

    assert abs(trend_z(means) or 9) < 3.5
