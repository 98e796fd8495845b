"""High losses that come from the same batch or shard."""

from collections.abc import Callable

import numpy as np
import pytest

from loganalyst.features import repeatedbatches
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]
STEPS = np.arange(600)
SHARDS = (STEPS // 5 % 20).astype(float)  # twenty shards in turn, five steps each


def losses(high: np.ndarray) -> list[float]:
    """A falling, noisy loss, three times as high where `high`."""
    noise = 1 + 0.02 * np.random.default_rng(0).standard_normal(STEPS.size)
    return list((1 + 2 * np.exp(-STEPS / 200)) * noise * np.where(high, 3.0, 1.0))


@pytest.mark.parametrize("name", ["shard_id", "data/batch_idx", "train/file_index", "shard"])
def test_the_shard_of_most_high_losses_is_named(features_of: FeaturesOf, name: str) -> None:
    """With its share of the other losses."""
    high = (SHARDS == 7) & (STEPS % 5 == 2)
    row = features_of({"loss": losses(high), name: list(SHARDS)}).values

    assert (row["spike_source_metric"], row["spike_source_id"]) == (name, 7)
    assert (row["spike_source_count"], row["spike_source_of"]) == (6, 6)
    assert row["spike_source_share"] == pytest.approx(24 / 594)


def test_high_losses_of_several_shards_have_none_in_common(features_of: FeaturesOf) -> None:
    """Nor do numbers that never return."""
    high = STEPS % 97 == 40
    for numbers in (SHARDS, STEPS.astype(float)):
        assert features_of({"loss": losses(high), "batch_id": list(numbers)}).values["spike_source_id"] is None


def test_a_smooth_loss_has_no_high_values(features_of: FeaturesOf) -> None:
    """And a number that all losses have says nothing."""
    assert features_of({"loss": losses(STEPS < 0), "shard_id": list(SHARDS)}).values["spike_source_id"] is None
    high = STEPS % 97 == 40
    assert features_of({"loss": losses(high), "shard_id": [1.0] * 600}).values["spike_source_id"] is None


def test_compute_gives_all_features(context_of: Callable[..., Context]) -> None:
    """Every declared feature of a run with a common shard."""
    high = (SHARDS == 7) & (STEPS % 5 == 2)
    found = repeatedbatches.compute(context_of({"loss": losses(high), "shard_id": list(SHARDS)}))

    assert set(found) == {f.name for f in repeatedbatches.FEATURES}
