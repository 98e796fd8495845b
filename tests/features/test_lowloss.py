"""Training losses that stay far below their first level."""

from collections.abc import Callable

import pytest

from loganalyst.features import lowloss
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]
SOLVED = [1.0] * 4 + [0.5] * 10 + [0.01] * 46


@pytest.mark.parametrize(("spike", "low"), [(0.01, True), (0.09, True), (0.11, False), (3.0, False)])
def test_a_spike_counts_from_a_tenth_of_the_first_level_on(features_of: FeaturesOf, spike: float, low: bool) -> None:
    """A loss falls from 1 to 0.01; a spike to 0.09 is nine times its level, and small."""
    assert features_of({"loss": [*SOLVED[:50], spike, *SOLVED[50:]]}).values["train_loss_stays_low"] is low


def test_the_first_third_does_not_count(features_of: FeaturesOf) -> None:
    """The loss is high in the first 14 of 60 values."""
    assert features_of({"loss": SOLVED}).values["train_loss_stays_low"] is True
    assert features_of({"loss": SOLVED[::-1]}).values["train_loss_stays_low"] is False


def test_a_loss_that_is_never_finite_is_not_low(features_of: FeaturesOf) -> None:
    """NaN throughout."""
    assert features_of({"loss": [float("nan")] * 5}).values["train_loss_stays_low"] is False


def test_a_run_without_its_metric_has_no_value(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even false."""
    assert lowloss.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {}
