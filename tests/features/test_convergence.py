"""Features of the law of the training loss."""

from collections.abc import Callable

import numpy as np
import pytest

from loganalyst.features import convergence
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]
T = np.arange(1, 2001) / 2000
NOISE = np.random.default_rng(0).normal(0, 0.01, 2000)


def test_a_power_law_has_more_to_gain(features_of: FeaturesOf) -> None:
    """Exponent, limit and gain are those of the curve's definition."""
    row = features_of({"loss": (1 + 0.5 * (T / 0.1) ** -0.5 + NOISE).tolist()}).values
    gain = 0.5 * 10**-0.5 * (1 - 2**-0.5)

    assert row["train_loss_fit"] == "power law"
    assert row["train_loss_fit_rate"] == pytest.approx(0.5, abs=0.06)
    assert row["train_loss_limit"] == pytest.approx(1.0, abs=0.03)
    assert row["train_loss_gain"] == pytest.approx(gain, rel=0.1)
    assert row["train_loss_gain_relative"] == pytest.approx(gain / (1 + 0.5 * 10**-0.5), rel=0.1)
    assert row["train_loss_gain_z"] > 3  # type: ignore[operator]


def test_a_finished_exponential_has_nothing_to_gain(features_of: FeaturesOf) -> None:
    """After ten time constants, the limit is reached."""
    row = features_of({"loss": (0.3 + 2 * np.exp(-10 * T) + NOISE).tolist()}).values

    assert row["train_loss_fit"] == "exponential"
    assert row["train_loss_limit"] == pytest.approx(0.3, abs=0.005)
    assert abs(row["train_loss_gain_relative"]) < 0.001  # type: ignore[arg-type]


def test_a_straight_fall_has_no_limit(features_of: FeaturesOf) -> None:
    """Without a bend the limit is not known, but the gain is."""
    row = features_of({"loss": (3 - T + NOISE).tolist()}).values

    assert row["train_loss_limit"] is None
    assert row["train_loss_gain"] == pytest.approx(1.0, rel=0.15)


def test_a_rising_loss_has_no_law(features_of: FeaturesOf) -> None:
    """All features are unknown."""
    assert features_of({"loss": (1 + T).tolist()}).values["train_loss_fit"] is None


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    assert convergence.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {}
