"""Features of the accuracy on adversarial examples."""

from collections.abc import Callable

import pytest

from loganalyst.features import robustness
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]


@pytest.mark.parametrize("name", ["pgd_acc", "robust_accuracy", "test/adv_acc", "val_fgsm_accuracy", "acc_pgd20"])
def test_the_lowest_accuracy_counts(features_of: FeaturesOf, name: str) -> None:
    row = features_of({name: [0.02, 0.01, 0.01], "autoattack_acc": [0.3, 0.3, 0.3], "val_acc": [0.5, 0.8, 0.9]}).values

    assert (row["robust_accuracy_metric"], row["robust_accuracy_last"]) == (name, 0.01)
    assert row["val_accuracy_last"] == 0.9


def test_the_unit_is_that_of_all_accuracies(features_of: FeaturesOf) -> None:
    """0.9 beside a clean accuracy of 93 is 0.9 per cent."""
    row = features_of({"pgd_acc": [1.2, 0.9, 0.9], "val_acc": [50.0, 80.0, 93.0]}).values

    assert row["robust_accuracy_last"] == pytest.approx(0.009)


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    assert robustness.compute(context_of({"val_acc": [0.5, 0.6, 0.7]})) == {}
