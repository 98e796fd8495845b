"""Features of one held-out score on two sets."""

from collections.abc import Callable

import pytest

from loganalyst.model import Features

FeaturesOf = Callable[..., Features]
HIGH, LOW = [0.9, 0.95, 0.98, 0.99, 0.999, 0.999], [0.57, 0.56, 0.58, 0.57, 0.56, 0.57]


def test_a_second_set_that_learns_nothing(features_of: FeaturesOf) -> None:
    row = features_of({"val_auc": HIGH, "external_auc": LOW}).values

    assert (row["first_set_metric"], row["second_set_metric"]) == ("val_auc", "external_auc")
    assert row["second_set_behind"] == pytest.approx(0.43, abs=0.01)
    assert row["second_set_gain"] == pytest.approx(0.0, abs=0.01)


@pytest.mark.parametrize(
    "logged",
    [
        {"val_auc": HIGH, "val_f1": LOW},  # another measure
        {"val_acc": HIGH, "val_bal_acc": LOW},  # another mean over the same data
        {"val_acc": HIGH, "val_acc_minority": LOW},  # a part of it
        {"val_precision": HIGH, "external_precision": LOW},  # can be traded for recall
        {"val_auc": HIGH, "external_auc": LOW[:2]},  # too few
        {"val_auc": HIGH},
    ],
)
def test_nothing_is_known_without_two_sets(features_of: FeaturesOf, logged: dict[str, list[float]]) -> None:
    assert features_of(logged).values["second_set_behind"] is None
