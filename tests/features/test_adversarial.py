"""Features of adversarial training."""

from collections.abc import Callable

import numpy as np
import pytest

from loganalyst.features import adversarial
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]
NOISE = np.random.default_rng(0)
NAN = float("nan")


def test_losses_that_swing_against_each_other(features_of: FeaturesOf) -> None:
    """Their correlation is near -1; that of independent losses near 0."""
    wave = np.sin(np.arange(400) / 15)
    swings = {"g_loss": (2 + wave).tolist(), "d_loss": (2 - wave).tolist()}
    row = features_of(swings).values

    assert row["adversarial_correlation"] == pytest.approx(-1.0)
    assert row["generator_loss_min"] == pytest.approx(1.0, abs=0.01)
    assert row["generator_swing_count"] == 4
    calm = {name: (2 + NOISE.normal(0, 0.1, 400)).tolist() for name in ("g_loss", "d_loss")}
    assert abs(features_of(calm).values["adversarial_correlation"]) < 0.2
    assert features_of(calm).values["generator_swing_count"] == 0


def test_whether_sample_quality_is_logged(features_of: FeaturesOf) -> None:
    """A distance of the samples with the losses, none, and no adversarial training at all."""
    losses = {"g_loss": [0.7] * 50, "d_loss": [1.4] * 50}

    assert features_of(losses).values["adversarial_samples_judged"] is False
    assert features_of({**losses, "FID": [30.0] * 10}).values["adversarial_samples_judged"] is True
    assert features_of({**losses, "modes_covered": [8.0] * 10}).values["adversarial_samples_judged"] is True
    assert features_of({"loss": [0.7] * 50}).values["adversarial_samples_judged"] is None


def test_growing_swings(features_of: FeaturesOf) -> None:
    """The last third has three times the spread of the middle third."""
    unit = np.tile([-1.0, 1.0], 50)
    loss = 5 + np.concatenate([unit, unit, 3 * unit])

    assert features_of({"g_loss": loss.tolist(), "d_loss": loss.tolist()}).values[
        "adversarial_spread_growth"
    ] == pytest.approx(3.0)


def test_share_of_the_run_that_the_discriminator_won(features_of: FeaturesOf) -> None:
    """Half of the run after its first tenth is below 0.05; a critic's loss below 0 has no such limit."""
    loss = [0.7] * 55 + [0.01] * 45

    assert features_of({"d_loss": loss, "g_loss": loss}).values["discriminator_win_share"] == 0.5
    assert features_of({"d_loss": [-1.0, *loss], "g_loss": loss}).values["discriminator_win_share"] is None


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    assert adversarial.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {}


def test_three_counts_of_modes_are_enough(features_of: FeaturesOf) -> None:
    """A count has no noise; the spread of few samples has."""
    losses = {"d_loss": [1.3] * 10, "g_loss": [0.7] * 10}
    row = features_of({**losses, "modes_covered": [0.0, 1.0, 1.0], "sample_std": [0.1] * 3}).values
    assert (row["sample_modes_last"], row["sample_spread_share"]) == (1.0, None)
    assert features_of({**losses, "modes_covered": [0.0, 1.0]}).values["sample_modes_last"] is None


def test_how_much_samples_differ(features_of: FeaturesOf) -> None:
    """The modes at the end and at best, and the spread as a share of its largest; what follows NaN does not count."""
    losses = {"d_loss": [1.3] * 40 + [NAN] * 10, "g_loss": [0.8] * 40 + [NAN] * 10}
    samples = {
        "modes_covered": [2.0] * 30 + [6.0] * 10 + [0.0] * 10,
        "sample_std": [1.0] * 20 + [0.25] * 20 + [NAN] * 10,
    }
    row = features_of(losses | samples).values

    assert (row["sample_modes_best"], row["sample_modes_last"], row["sample_spread_share"]) == (6.0, 6.0, 0.25)


@pytest.mark.parametrize(("g_loss", "expected"), [([0.7] * 50, 0.0), ([0.5, 1.5] * 25, 1.0)])
def test_the_range_of_both_losses(features_of: FeaturesOf, g_loss: list[float], expected: float) -> None:
    """The larger of both, as a share of the level."""
    row = features_of({"d_loss": [1.38] * 50, "g_loss": g_loss}).values

    assert row["adversarial_loss_range"] == expected
