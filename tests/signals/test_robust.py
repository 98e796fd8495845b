"""Medians of many narrow windows, which are sorted side by side, are those of numpy."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from loganalyst.signals.robust import MANY, NARROW, medians


@pytest.mark.parametrize("width", [*range(1, NARROW + 2), 100])
@pytest.mark.parametrize("count", [1, 50, MANY + 200])
def test_medians_are_those_of_numpy(width: int, count: int) -> None:
    """Of windows of any width and number, with many equal values."""
    values = np.random.default_rng(width).standard_normal(count + width).round(1)
    windows = sliding_window_view(values, width)

    assert np.array_equal(np.median(windows, axis=-1), medians(windows))
