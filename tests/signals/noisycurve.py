"""A noisy learning curve into which tests put one change."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from loganalyst.signals import change_points

N = 4000
T = np.arange(N)
NOISE = np.exp(0.03 * np.random.default_rng(7).standard_normal(N))
CURVE = (0.3 + 2.7 * np.exp(-T / 1500)) * NOISE


def kinds(values: ArrayLike, **options: Any) -> list[tuple[int, str]]:
    """Index and kind of each change."""
    return [(c.index, c.kind) for c in change_points(values, **options)]
