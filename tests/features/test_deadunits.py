"""Shares of dead units that a run logs itself."""

from collections.abc import Callable

import pytest

from loganalyst.features import deadunits
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]


@pytest.mark.parametrize("metric", ["train_dead_frac", "train/dead_frac", "dead_relu_ratio", "layer1/share_dead"])
def test_a_share_of_dead_units_is_read(features_of: FeaturesOf, metric: str) -> None:
    """Its first and last values, whatever stands before or after the words."""
    row = features_of({"loss": [1.0] * 4, metric: [0.25, 0.5, 1.0, 1.0]}).values

    assert (row["dead_logged_metric"], row["dead_logged_first"], row["dead_logged_share"]) == (metric, 0.25, 1.0)


@pytest.mark.parametrize("metric", ["stats/dead", "dead_codes_frac", "dead_latents_ratio", "dead_agents_share"])
def test_other_dead_things_are_no_units(features_of: FeaturesOf, metric: str) -> None:
    """Counts, codes of a codebook, latents of a sparse autoencoder, agents of a game."""
    assert features_of({"loss": [1.0] * 4, metric: [0.25, 0.5, 1.0, 1.0]}).values["dead_logged_share"] is None


def test_a_count_is_no_share(features_of: FeaturesOf) -> None:
    """Values above 1."""
    assert features_of({"dead_relu_rate": [0.0, 12.0, 40.0]}).values["dead_logged_share"] is None


def test_the_layer_with_most_counts(features_of: FeaturesOf) -> None:
    """Of two layers the worse one."""
    row = features_of({"dead_frac/a": [0.0, 0.1], "dead_frac/b": [0.0, 0.9]}).values

    assert (row["dead_logged_metric"], row["dead_logged_share"]) == ("dead_frac/b", 0.9)


def test_compute_gives_all_features(context_of: Callable[..., Context]) -> None:
    """Each declared feature has a value."""
    found = deadunits.compute(context_of({"dead_frac": [0.0, 0.5]}))

    assert set(found) == {f.name for f in deadunits.FEATURES}
