"""Features of adversarial training."""

from collections.abc import Callable

import numpy as np
import pytest

from loganalyst.features import adversarial
from loganalyst.features.context import Context
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


def test_a_discriminator_that_had_won_for_long_is_seen(features_of: FeaturesOf) -> None:
    """Half of the run after its first tenth below 0.05; a critic's loss, which goes below 0, says nothing of it."""
    loss = [0.7] * 55 + [0.01] * 45

    assert features_of({"d_loss": loss, "g_loss": loss}).values["discriminator_win_share"] == 0.5
    assert features_of({"d_loss": [-1.0, *loss], "g_loss": loss}).values["discriminator_win_share"] is None


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    assert adversarial.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {}
