"""Features of held-out accuracies and scores."""

from collections.abc import Callable

import pytest

from loganalyst.features import validationscores
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]
TRAIN = [1.0, 0.8, 0.6, 0.4, 0.3, 0.2]


def test_the_late_gain_is_at_most_the_whole_gain(features_of: FeaturesOf) -> None:
    """A score that fell before its last third gained all of it there."""
    row = features_of({"val_acc": [0.3, 0.28, 0.2, 0.22, 0.25, 0.32]}).values

    assert row["val_score_late_gain_share"] == 1.0


def test_accuracy_in_per_cent_is_a_share(features_of: FeaturesOf) -> None:
    """Per cent and shares give the same gap."""
    row = features_of({"train_acc": [50.0, 80.0, 95.0, 96.0], "val_acc": [48.0, 75.0, 89.0, 90.0]})

    assert row.values["accuracy_gap"] == pytest.approx(0.06)
    assert row.values["val_accuracy_last"] == pytest.approx(0.9)


def test_values_that_are_equal_to_the_last(features_of: FeaturesOf) -> None:
    """One evaluation in five differs; an unbroken run at the end is shorter."""
    row = features_of({"val_acc": [0.5, 0.5, 0.5, 0.4, 0.5]}).values

    assert (row["val_score_same_share"], row["val_score_still_share"]) == (0.8, 0.2)


def test_a_score_begins_good_by_its_first_value(features_of: FeaturesOf) -> None:
    """Without a score the answer is no, so that a rule about a loss can still ask it."""
    logged = [{"val_acc": [80.0, 85.0, 86.0]}, {"val_acc": [0.7, 0.9, 0.95]}, {"loss": [2.0, 1.0]}]

    assert [features_of(metrics).values["val_score_begins_good"] for metrics in logged] == [True, False, False]


@pytest.mark.parametrize(
    ("metric", "values", "good"),
    [
        ("val/PSNR", [18.2, 24.0, 27.5], None),
        ("val_si_sdr", [0.9, 8.1, 11.6], None),
        ("val_pesq", [1.8, 2.2, 2.6], None),
        ("val_hits", [212.0, 260.0, 301.0], None),
        ("val_mIoU", [41.0, 55.0, 62.0], False),
        ("val_mIoU", [81.0, 82.0, 82.5], True),
        ("val_auc", [0.81, 0.85, 0.88], True),
    ],
)
def test_only_a_score_with_an_upper_bound_begins_good(
    features_of: FeaturesOf, metric: str, values: list[float], good: bool | None
) -> None:
    """Its best value is 1 or 100; a value in decibels or points is not good on its own."""
    row = features_of({metric: values}).values

    assert row["val_score_metric"] == metric
    assert row["val_score_begins_good"] is good


def test_an_error_rate_is_a_score_subtracted_from_one(features_of: FeaturesOf) -> None:
    """Named `1 - wer`."""
    row = features_of({"eval_wer": [50.0, 40.0, 30.0, 20.0]}).values

    assert (row["val_score_metric"], row["val_score_last"], row["val_score_best"]) == ("eval_wer", 0.8, 0.8)
    assert (row["accuracy_gap"], row["val_accuracy_last"]) == (None, None)


@pytest.mark.parametrize(
    ("logged", "left"),
    [
        ({"acc": [0.5, 0.6, 0.7, 0.8, 0.85, 0.9]}, 0.25),  # from 0.4, the median of the first three
        ({"acc": [50.0, 60.0, 70.0, 80.0, 85.0, 90.0], "val_acc": [0.5] * 6}, 0.25),
        ({"val_acc": [0.5] * 6}, 1.0),
        ({"acc": [1.0] * 6}, None),
        ({"loss": TRAIN}, None),
    ],
)
def test_remaining_errors(features_of: FeaturesOf, logged: dict[str, list[float]], left: float | None) -> None:
    """Of training if logged; not known if there were none at the start."""
    found = features_of(logged).values["accuracy_errors_left"]

    assert found == (None if left is None else pytest.approx(left))


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0; but no score began good."""
    values = validationscores.compute(context_of({"other": [1.0, 2.0, 3.0]}))

    assert values == {
        "train_accuracy_last": None,
        "accuracy_errors_left": None,
        "val_score_begins_good": False,
    }


@pytest.mark.parametrize(
    ("train", "held_out", "gap"),
    [
        ("train/acc", "val/accuracy", 0.2),
        ("train_acc_top1", "val_acc1", 0.2),
        ("train/retrieval_acc", "val/knn_acc", None),
    ],
)
def test_only_accuracies_of_the_same_kind_have_a_gap(
    features_of: FeaturesOf, train: str, held_out: str, gap: float | None
) -> None:
    """Words that only one of them has, and no other word stands for, tell them apart."""
    row = features_of({train: [0.9] * 12, held_out: [0.7] * 12}).values

    assert row.get("accuracy_gap") == (None if gap is None else pytest.approx(gap))
