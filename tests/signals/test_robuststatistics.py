"""Robust statistics, compared with numpy."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from loganalyst.signals.robuststatistics import (
    MAX_NETWORK_WIDTH,
    MIN_NETWORK_ROWS,
    median,
    medians,
    quantiles,
    running_median,
)


@pytest.mark.parametrize("width", [*range(1, MAX_NETWORK_WIDTH + 2), 100])
@pytest.mark.parametrize("count", [1, 50, MIN_NETWORK_ROWS + 200])
def test_medians_are_those_of_numpy(width: int, count: int) -> None:
    """For windows of any width and number, with many equal values."""
    values = np.random.default_rng(width).standard_normal(count + width).round(1)
    windows = sliding_window_view(values, width)

    assert np.array_equal(np.median(windows, axis=-1), medians(windows))


@pytest.mark.parametrize("size", [1, 2, 7, 64, 2001])
def test_medians_and_quantiles_are_those_of_numpy(size: int) -> None:
    """Of few values, which are sorted, and of many, of which one is selected."""
    x = np.random.default_rng(size).standard_normal(size)

    assert median(x) == np.median(x)
    assert quantiles(x, (0.025, 0.5, 0.9)).tolist() == np.quantile(x, (0.025, 0.5, 0.9)).tolist()


@pytest.mark.parametrize("half", [1, 3, 20])
def test_windows_of_a_running_median_shrink_towards_both_ends(half: int) -> None:
    """The point `i` from an end has the median of the `2·i+1` points there."""
    x = np.random.default_rng(half).standard_normal(60)
    found = running_median(x, half)

    assert found[:half].tolist() == [np.median(x[: 2 * i + 1]) for i in range(half)]
    assert found[::-1][:half].tolist() == [np.median(x[59 - 2 * i :]) for i in range(half)]
    assert found[half] == np.median(x[: 2 * half + 1])
