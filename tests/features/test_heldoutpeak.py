"""Features of a held-out loss that was thrown far once."""

from collections.abc import Callable

import pytest

from loganalyst.model import Features

FeaturesOf = Callable[..., Features]
FLAT = [2.0] * 20


def test_a_peak_is_compared_with_its_neighbours(features_of: FeaturesOf) -> None:
    """With its step; at the end of the curve, the values before it are the neighbours."""
    row = features_of({"val_loss": [*FLAT[:12], 80.0, *FLAT[13:]]}).values

    assert (row["val_loss_peak_ratio"], row["val_loss_peak_metric"], row["val_loss_peak_step"]) == (
        40.0,
        "val_loss",
        12,
    )
    assert features_of({"val_loss": [*FLAT, 6.0]}).values["val_loss_peak_ratio"] == 3.0


def test_the_first_value_is_no_peak(features_of: FeaturesOf) -> None:
    row = features_of({"val_loss": [40.0, *FLAT[:10], 4.0, *FLAT[:8]]}).values

    assert (row["val_loss_peak_ratio"], row["val_loss_peak_step"]) == (2.0, 11)


@pytest.mark.parametrize("values", [FLAT[:9], [*FLAT, -1.0], [*FLAT, 0.0]])
def test_a_ratio_needs_many_values_above_0(features_of: FeaturesOf, values: list[float]) -> None:
    """Without them nothing is known."""
    assert features_of({"val_loss": values}).values["val_loss_peak_ratio"] is None
