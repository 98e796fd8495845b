"""Features of generative models."""

from collections.abc import Callable

import numpy as np
import pytest

from loganalyst.features import generative
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]


def test_largest_latent_divergence(features_of: FeaturesOf) -> None:
    """It rises from 2 to 600 at step 7."""
    kl = [2.0] * 7 + [600.0] + [5.0] * 12
    row = features_of({"kl": kl, "recon": [1.0] * 20}).values

    assert (row["kl_max"], row["kl_max_step"], row["kl_max_ratio"]) == (600.0, 7, 300.0)
    assert features_of({"recon": [1.0] * 20}).values["kl_max"] is None


def test_a_divergence_that_is_printed_as_zero(features_of: FeaturesOf) -> None:
    """With one decimal it may be 0.049 nats, which is not known; with three it is nearly 0."""
    fall = [2.21 * 0.9**i for i in range(100)]

    assert features_of({"kl_loss": [round(x, 1) for x in fall]}).values["kl_last"] is None
    assert features_of({"kl_loss": [round(x, 3) for x in fall]}).values["kl_last"] == 0.0


def test_discriminator_and_generator_levels(features_of: FeaturesOf) -> None:
    """Levels of both losses."""
    row = features_of({"D_loss": [1.0] * 50 + [0.001] * 50, "G_loss": [1.0] * 50 + [9.0] * 50})

    assert row.values["discriminator_loss_last"] == pytest.approx(0.001)
    assert row.values["generator_loss_ratio"] == pytest.approx(9.0)


def test_a_contest_that_is_decided_within_three_values(features_of: FeaturesOf) -> None:
    """The first value, before any learning, is the level to compare with, so half of the points answer the same."""
    discriminator = [1.0, 0.2, 0.02, *[0.1] * 47]
    row = features_of({"D_loss": discriminator, "G_loss": [1.0, 4.0] + [9.0] * 48}).values
    half = features_of({"D_loss": discriminator[::2], "G_loss": [1.0, 4.0] + [9.0] * 23}).values

    assert (row["discriminator_loss_share"], half["discriminator_loss_share"]) == (0.1, 0.1)
    assert (row["generator_loss_ratio"], half["generator_loss_ratio"]) == (9.0, 9.0)


def test_codebook_usage(features_of: FeaturesOf) -> None:
    """Relative to the size in the config."""
    row = features_of({"codebook_perplexity": [100.0] * 10 + [2.0] * 10}, {"num_embeddings": 512})

    assert row.values["codebook_share"] == pytest.approx(2 / 512)
    assert row.values["codebook_last_ratio"] == pytest.approx(0.02)
    assert row.values["codebook_first"] == 100.0


def test_a_perplexity_counts_codes(features_of: FeaturesOf) -> None:
    """A perplexity of 1 is one code of 512, a usage of 1 the whole codebook."""
    one = features_of({"codebook_perplexity": [1.0] * 50}, config={"num_embeddings": 512}).values
    whole = features_of({"codebook_usage": [1.0] * 50}).values

    assert (one["codebook_codes"], one["codebook_share"]) == (1.0, 1 / 512)
    assert (whole["codebook_codes"], whole["codebook_share"]) == (None, 1.0)


def test_discriminator_scores(features_of: FeaturesOf) -> None:
    """Its accuracy as a share, or the distance of its scores."""
    assert features_of({"d_acc": [50.0, 99.0]}).values["discriminator_accuracy_last"] == 0.99
    row = features_of({"D(x)": [0.5] * 9 + [0.99], "D(G(z))": [0.5] * 9 + [0.01]}).values
    assert row["discriminator_margin_last"] == pytest.approx(0.98)
    assert row["discriminator_accuracy_last"] is None


def test_quality_of_samples(features_of: FeaturesOf) -> None:
    """A distance that rises again, and repetitive text."""
    fid = [*np.linspace(100, 20, 20), *[20.0] * 10, *np.linspace(20, 60, 20)]
    row = features_of({"fid": fid, "rep_4": [0.7] * 10, "distinct_2": [0.1] * 10}).values

    assert row["sample_distance_rise_ratio"] == pytest.approx(60 / 20, rel=0.1)
    assert (row["repetition_last"], row["diversity_last"]) == (0.7, 0.1)


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    values = generative.compute(context_of({"other": [1.0, 2.0, 3.0]}))

    assert values == {
        "discriminator_accuracy_last": None,
        "discriminator_margin_last": None,
    }
