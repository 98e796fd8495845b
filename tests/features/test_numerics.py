"""Features of numeric range."""

from collections.abc import Callable

from loganalyst.features import numerics
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]
NAN = float("nan")


def test_a_term_that_ends_nan(features_of: FeaturesOf) -> None:
    """A loss other than the training loss that becomes NaN for good is an event; intermittent NaN is not."""
    row = features_of({"value_loss": [*[1.0] * 20, NAN, NAN], "policy_loss": [1.0, NAN, 1.0]})

    assert row.values["other_loss_nonfinite_count"] == 1
    assert (row.values["other_loss_nonfinite_metric"], row.values["other_loss_nonfinite_step"]) == ("value_loss", 20)


def test_the_loss_scale(features_of: FeaturesOf) -> None:
    """Its halvings and its lowest value."""
    row = features_of({"loss_scale": [65536.0, 32768.0, 32768.0, 16384.0, 1.0]})

    assert row.values["loss_scale_halvings"] == 3
    assert row.values["loss_scale_min_step"] == 4


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    assert numerics.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {}
