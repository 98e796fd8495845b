"""A common step axis for curves with different counters."""

from collections.abc import Sequence

import numpy as np
import pytest

from loganalyst.curves import axes
from loganalyst.curves.roles import all_roles
from loganalyst.model import Curve

NONE = float("nan")


def curve(steps: Sequence[int], epochs: object = NONE, times: object = NONE, values: object = 1.0) -> Curve:
    def full(x: object) -> np.ndarray:
        return np.broadcast_to(np.asarray(x, dtype=float), len(steps)).copy()

    return Curve(
        "m", all_roles()["train_loss"], np.asarray(steps), full(values), full(times), full(epochs),
        np.zeros(len(steps), np.int32), np.full(len(steps), -1),
    )  # fmt: skip


TRAIN = list(range(10, 1010, 10))


def test_a_common_axis_is_kept() -> None:
    """Evaluations every 100 steps stay where they were logged."""
    ours, theirs = axes.common_axis(curve(TRAIN), curve(range(100, 1100, 100)), [])

    assert ours.tolist() == TRAIN
    assert theirs.tolist() == list(range(100, 1100, 100))


def test_evaluations_by_epoch_are_spread_over_the_run() -> None:
    """Without known epoch ends, ten evaluations are a tenth of the run apart, the last at its end."""
    _, theirs = axes.common_axis(curve(TRAIN), curve(range(10)), [])

    assert theirs.tolist() == pytest.approx(list(range(100, 1100, 100)))


def test_epochs_of_both_curves_place_evaluations() -> None:
    """Points with an epoch go where training was in that epoch."""
    train = curve(TRAIN, epochs=np.asarray(TRAIN) / 250)
    _, theirs = axes.common_axis(train, curve([1, 2, 3, 4], epochs=[1, 2, 3, 4]), [])

    assert theirs.tolist() == pytest.approx([250, 500, 750, 1000])


def test_times_place_evaluations() -> None:
    """Points with a time go where training was then."""
    train = curve(TRAIN, times=2.0 * np.asarray(TRAIN) + 5e8)
    _, theirs = axes.common_axis(train, curve([0, 1, 2], times=5e8 + np.array([400.0, 1000.0, 2000.0])), [])

    assert theirs.tolist() == pytest.approx([200, 500, 1000])


def test_a_counter_of_epochs_places_evaluations() -> None:
    """Epochs of different length end where the logged counter grows."""
    counter = curve(TRAIN, values=np.select([np.asarray(TRAIN) <= 200, np.asarray(TRAIN) <= 700], [0, 1], 2))
    _, theirs = axes.common_axis(curve(TRAIN), curve([0, 1, 2]), [counter])

    assert theirs.tolist() == [200, 700, 1000]


def test_a_training_loss_by_epoch_is_placed_too() -> None:
    """Either of the two may count epochs."""
    ours, theirs = axes.common_axis(curve(range(10)), curve(TRAIN), [])

    assert ours.tolist() == pytest.approx(list(range(100, 1100, 100)))
    assert theirs.tolist() == TRAIN


def test_ends_of_epochs() -> None:
    """An epoch ends with the last step before the count grows; a count that grows with every point has no epochs."""
    by_epoch = curve(TRAIN, epochs=np.asarray(TRAIN) // 251)

    assert axes.epoch_ends([by_epoch], []).tolist() == [250, 500, 750]
    assert axes.epoch_ends([], [curve(TRAIN, values=np.arange(100))]).size == 0
