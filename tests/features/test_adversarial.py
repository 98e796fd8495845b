"""Generators and discriminators, latent divergences, preferences, rollouts."""

from collections.abc import Callable

import numpy as np
import pytest

from loganalyst.model import Features

FeaturesOf = Callable[..., Features]
NOISE = np.random.default_rng(0)


def test_a_contest_that_swings_is_seen(features_of: FeaturesOf) -> None:
    """Losses that swing against each other have a correlation near -1; independent ones near 0."""
    wave = np.sin(np.arange(400) / 15)
    swings = {"g_loss": (2 + wave).tolist(), "d_loss": (2 - wave).tolist()}
    row = features_of(swings).values

    assert row["adversarial_correlation"] == pytest.approx(-1.0)
    assert row["generator_loss_min"] == pytest.approx(1.0, abs=0.01)
    assert row["generator_swing_count"] == 4
    calm = {name: (2 + NOISE.normal(0, 0.1, 400)).tolist() for name in ("g_loss", "d_loss")}
    assert abs(features_of(calm).values["adversarial_correlation"]) < 0.2
    assert features_of(calm).values["generator_swing_count"] == 0


def test_whether_samples_are_judged(features_of: FeaturesOf) -> None:
    """A distance of the samples beside the losses, none, and no contest at all."""
    losses = {"g_loss": [0.7] * 50, "d_loss": [1.4] * 50}

    assert features_of(losses).values["adversarial_samples_judged"] is False
    assert features_of({**losses, "FID": [30.0] * 10}).values["adversarial_samples_judged"] is True
    assert features_of({"loss": [0.7] * 50}).values["adversarial_samples_judged"] is None


def test_swings_that_grow_are_seen(features_of: FeaturesOf) -> None:
    """The last third has three times the spread of the middle third."""
    unit = np.tile([-1.0, 1.0], 50)
    loss = 5 + np.concatenate([unit, unit, 3 * unit])

    assert features_of({"g_loss": loss.tolist(), "d_loss": loss.tolist()}).values[
        "adversarial_spread_growth"
    ] == pytest.approx(3.0)


def test_the_largest_latent_divergence_has_its_place(features_of: FeaturesOf) -> None:
    """It went from 2 to 600 at step 7."""
    kl = [2.0] * 7 + [600.0] + [5.0] * 12
    row = features_of({"kl": kl, "recon": [1.0] * 20}).values

    assert (row["kl_max"], row["kl_max_step"], row["kl_max_ratio"]) == (600.0, 7, 300.0)
    assert features_of({"recon": [1.0] * 20}).values["kl_max"] is None


def test_preferences_have_features_of_their_own(features_of: FeaturesOf) -> None:
    """Margin, accuracy and the reward of chosen answers; such a run is no reinforcement learning."""
    logged = {
        "train/rewards/margins": [0.0] * 3 + [8.0] * 7,
        "train/rewards/accuracies": [0.5] * 3 + [0.9] * 7,
        "train/rewards/chosen": [0.0] * 3 + [-12.0] * 7,
        "train/loss": [0.69] * 10,
    }
    row = features_of(logged).values

    assert (row["preference_margin_points"], row["preference_margin_last"]) == (10, 8.0)
    assert (row["preference_accuracy_first"], row["preference_accuracy_last"]) == (0.5, 0.9)
    assert row["chosen_reward_last"] == -12.0
    assert row["run_kind"] == "training"


def test_what_a_policy_learns_from(features_of: FeaturesOf) -> None:
    """Value loss, advantages, length, exploration and the size of updates, each at its last level."""
    logged = {
        "ep_rew_mean": [1.0] * 20,
        "value_loss": [4.0] * 10 + [1.0] * 10,
        "advantage_mean": [-3.0, 3.0] * 10,
        "ep_len_mean": [10.0] * 10 + [40.0] * 10,
        "exploration_rate": [1.0] * 5 + [0.01] * 15,
        "approx_kl": [0.01] * 15 + [0.2] * 5,
    }
    row = features_of(logged).values

    assert (row["value_loss_last"], row["value_loss_drop_relative"]) == (1.0, 0.75)
    assert (row["advantage_size"], row["episode_length_growth"], row["episode_length_last"]) == (3.0, 4.0, 40.0)
    assert (row["exploration_last"], row["exploration_low_share"]) == (0.01, 0.75)
    assert row["policy_kl_over_limit_share"] == 0.25
    alone = features_of({"ep_rew_mean": [1.0] * 20}).values
    assert {alone[name] for name in ("value_loss_last", "advantage_size", "exploration_last")} == {None}


def test_a_discriminator_that_had_won_for_long_is_seen(features_of: FeaturesOf) -> None:
    """Half of the run after its first tenth below 0.05; a critic's loss, which goes below 0, says nothing of it."""
    loss = [0.7] * 55 + [0.01] * 45

    assert features_of({"d_loss": loss, "g_loss": loss}).values["discriminator_win_share"] == 0.5
    assert features_of({"d_loss": [-1.0, *loss], "g_loss": loss}).values["discriminator_win_share"] is None
