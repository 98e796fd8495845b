"""Features of losses far above the level around them."""

from collections.abc import Callable

import numpy as np
import pytest

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


@pytest.mark.parametrize("values", [[1.0] * 29, [*[1.0] * 40, -1.0]])
def test_short_and_negative_losses_have_no_ratio(context_of: Callable[..., Context], values: list[float]) -> None:
    assert highvalues.compute(context_of({"loss": values})) == {}
    assert highvalues.compute(context_of({"other": [1.0] * 40})) == {}
