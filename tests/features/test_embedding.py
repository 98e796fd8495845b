"""Features of embeddings and representations."""

from collections.abc import Callable

import numpy as np
import pytest

from loganalyst.features import embedding
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]


def test_a_spike_of_the_embedding_gradient(features_of: FeaturesOf) -> None:
    """The embedding rises to 50 medians at step 30, the other layer to two."""
    embedding, other = np.ones(60), np.ones(60)
    embedding[30], other[30] = 50.0, 2.0
    row = features_of({"grad_norm/embed_tokens": embedding.tolist(), "grad_norm/layer1": other.tolist()}).values

    assert (row["embedding_grad_rise_ratio"], row["embedding_grad_rise_step"]) == (50.0, 30)
    assert row["embedding_grad_over_others"] == 25.0
    assert features_of({"grad_norm/layer1": other.tolist()}).values["embedding_grad_rise_ratio"] is None


def test_representations_that_collapse(features_of: FeaturesOf) -> None:
    """The spread falls from 1 to 0.01 and stays below a tenth from step 12 on."""
    row = features_of({"embedding_std": [1.0] * 12 + [0.01] * 28}).values

    assert row["representation_spread_share"] == pytest.approx(0.01)
    assert row["representation_spread_low_step"] == 12
    assert features_of({"embedding_std": [1.0] * 40}).values["representation_spread_low_step"] is None


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    assert embedding.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {}
