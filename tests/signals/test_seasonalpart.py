"""The seasonal part of a series."""

import numpy as np

from loganalyst.signals.seasonalpart import season

N = 240
NOISE = np.random.default_rng(11).standard_normal(N)


def test_season_has_the_period_and_no_mean():
    """The part that repeats is found exactly; a series without one has none."""
    swing = np.tile([1.0, -3.0, 2.0, 0.0], 30)

    assert np.allclose(season(swing + 7)[4:-4], swing[4:-4], atol=1e-9)
    assert not season(NOISE).any()
