"""Gains at drops of the learning rate."""

import numpy as np

from loganalyst.model import ChangePoint
from loganalyst.signals.rate_drop import drops, explained
from tests.signals.noisycurve import CURVE, T, kinds


def test_a_gain_at_a_drop_of_the_rate_is_benign():
    """The same fall is a level shift without a rate, and `lr_drop` if the given rate drops there."""
    values = CURVE * np.where(T >= 2600, 0.7, 1.0)
    rate = np.where(T >= 2600, 0.01, 0.1)

    assert kinds(values) == [(2600, "level_down")]
    assert kinds(values, rate=rate) == [(2600, "lr_drop")]
    assert kinds(CURVE, rate=rate) == []


def test_a_drop_leaves_at_most_seven_tenths():
    rate = np.array([1.0, 0.7, 0.6, np.nan, 0.3, 0.0, 0.0])

    assert drops(rate).tolist() == [1, 4, 5]


def test_only_gains_shortly_after_a_drop_are_explained():
    """Within 2 % of 1,000 points."""
    gain = [ChangePoint(500, None, "lr_drop", 5.0, 0.9)]

    def change(index: int, kind: str) -> ChangePoint:
        return ChangePoint(index, None, kind, 5.0, 0.9)  # type: ignore[arg-type]

    assert explained(change(510, "level_down"), gain, 1000)
    assert not explained(change(530, "level_down"), gain, 1000)
    assert not explained(change(510, "level_up"), gain, 1000)
