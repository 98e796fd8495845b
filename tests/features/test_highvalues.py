"""Features of losses far above the level around them."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from loganalyst.features import highvalues
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]


def test_a_burst_of_many_values_is_no_level_of_its_own(features_of: FeaturesOf) -> None:
    """Twelve batches of four times the loss among 1,000, beside a single one of ten times."""
    values = np.full(1000, 1.5)
    values[600:612], values[800] = 6.0, 15.0
    row = features_of({"loss": values.tolist()}).values

    assert row["train_loss_late_spike_ratio"] == pytest.approx(10.0)
    assert (row["train_loss_high_points"], row["train_loss_high_step"]) == (12, 600)
    assert row["train_loss_high_ratio"] == pytest.approx(4.0)


def test_spikes_count_relative_to_what_was_learned(features_of: FeaturesOf) -> None:
    """After a fall to a hundredth, ten times the level is twice a twentieth of the start."""
    values = np.concatenate([[1.0] * 50, np.linspace(1, 0.01, 100), np.full(850, 0.01)])
    values[600] = 0.1
    row = features_of({"loss": values.tolist()}).values

    assert row["train_loss_late_spike_ratio"] == pytest.approx(2.0, abs=0.2)


def test_a_smooth_loss_has_no_high_values(features_of: FeaturesOf) -> None:
    row = features_of({"loss": np.linspace(2, 1, 200).tolist()}).values

    assert (row["train_loss_high_points"], row["train_loss_high_step"], row["train_loss_high_ratio"]) == (0, None, None)


FALLING = 2.0 * np.exp(-np.arange(2000) / 900) * (1 + 0.05 * np.random.default_rng(7).standard_normal(2000)) + 0.5


def raised(at: int, points: int, times: float) -> list[float]:
    x = FALLING.copy()
    x[at : at + points] *= times
    return list(x)


def test_a_stretch_that_begins_and_ends_at_once(features_of: FeaturesOf) -> None:
    found = features_of({"loss": raised(1100, 12, 4.0)})

    assert found.values["train_loss_high_returned"] is True
    assert (found.values["train_loss_high_points"], found.values["train_loss_high_step"]) == (12, 1100)
    assert found.values["train_loss_high_ratio"] == pytest.approx(4.0, rel=0.1)
    assert found.witnesses["train_loss_high_step"].step == 1100


@pytest.mark.parametrize(
    ("at", "points", "times"),
    [
        (1100, 2, 4.0),  # a spike
        (1100, 12, 1.4),  # a small rise
        (100, 12, 4.0),  # at the start, where the loss still falls
        (1990, 10, 4.0),  # no return
        (1100, 300, 4.0),  # a phase of the run
    ],
)
def test_what_is_no_exception(features_of: FeaturesOf, at: int, points: int, times: float) -> None:
    assert features_of({"loss": raised(at, points, times)}).values["train_loss_high_returned"] is False


@pytest.mark.parametrize("values", [FALLING[:150], np.append(FALLING, np.nan), FALLING - 1.0])
def test_no_return_is_known_of_short_broken_and_negative_losses(
    features_of: FeaturesOf, values: NDArray[np.float64]
) -> None:
    assert features_of({"loss": list(values)}).values["train_loss_high_returned"] is None


def test_a_level_that_stays_higher_is_no_return(features_of: FeaturesOf) -> None:
    """The weights suffered, or the data changed for good."""
    x = np.array(raised(1100, 12, 8.0))
    x[1112:] *= 1.4

    assert features_of({"loss": list(x)}).values["train_loss_high_returned"] is False


def test_a_slow_return_is_none(features_of: FeaturesOf) -> None:
    """A bad batch lasts as long as it is read, and a disturbed model recovers step by step."""
    x = FALLING.copy()
    x[1100:] *= 1 + 10 * np.exp(-np.arange(900) / 10)

    assert features_of({"loss": list(x)}).values["train_loss_high_returned"] is False


@pytest.mark.parametrize("values", [[1.0] * 29, [*[1.0] * 40, -1.0]])
def test_short_and_negative_losses_have_no_ratio(context_of: Callable[..., Context], values: list[float]) -> None:
    assert highvalues.compute(context_of({"loss": values})) == {}
    assert highvalues.compute(context_of({"other": [1.0] * 40})) == {}
