"""Features of single classes and input lengths of the held-out data."""

from collections.abc import Callable

import pytest

from loganalyst.features import heldoutparts
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]


def test_the_worst_class_is_named(features_of: FeaturesOf) -> None:
    """Lowest and highest score of single classes; they are no held-out accuracy of the whole."""
    logged = {f"val/recall_class_{k}": [v] * 5 for k, v in ((0, 0.98), (1, 0.05), (2, 0.9))}
    row = features_of(logged).values

    assert (row["class_score_count"], row["class_score_low"], row["class_score_high"]) == (3, 0.05, 0.98)
    assert row["class_score_low_metric"] == "val/recall_class_1"
    assert row["val_score_metric"] is None


def test_the_only_class_with_a_score_is_compared_with_the_accuracy(features_of: FeaturesOf) -> None:
    """Without an accuracy on all classes, nothing is compared."""
    logged = {"val_recall_class_3": [0.02] * 5}
    row = features_of(logged | {"val_accuracy": [0.95] * 5}).values

    assert (row["one_class_metric"], row["one_class_score"]) == ("val_recall_class_3", 0.02)
    assert (row["accuracy_over_class"], row["class_score_count"]) == (0.95 - 0.02, None)
    assert features_of(logged).values["accuracy_over_class"] is None


def test_classes_that_share_a_measure_are_named_by_their_word(features_of: FeaturesOf) -> None:
    """`recall_legit` and `recall_fraud` are classes; averages and sizes of objects are none."""
    logged = {"val_accuracy": [0.99] * 5, "recall_legit": [0.99] * 5, "recall_fraud": [0.02] * 5}
    row = features_of(logged).values

    assert (row["class_score_low_name"], row["class_score_low"], row["class_score_high_name"]) == (
        "fraud",
        0.02,
        "legit",
    )
    assert row["macro_score_metric"] is None
    others = {
        "val_f1_macro": [0.9] * 5,
        "val_f1_weighted": [0.5] * 5,
        "val_ap_small": [0.1] * 5,
        "val_ap_large": [0.9] * 5,
    }
    assert features_of(others).values["class_score_count"] is None


def test_a_class_named_by_its_number_is_one_class(features_of: FeaturesOf) -> None:
    """Its recall stands for no macro average."""
    logged = {"val_accuracy": [0.97] * 5, "val_recall/class0": [0.99] * 5, "val_recall/class1": [0.02] * 5}
    row = features_of(logged).values

    assert (row["class_score_low_metric"], row["class_score_low"]) == ("val_recall/class1", 0.02)
    assert row["accuracy_over_macro"] is None


def test_accuracy_above_a_macro_score(features_of: FeaturesOf) -> None:
    """Accuracy 0.95 and macro F1 0.25 differ by 0.7."""
    row = features_of({"val_acc": [0.95] * 5, "val_macro_f1": [0.25] * 5}).values

    assert (row["macro_score_last"], row["accuracy_over_macro"]) == (0.25, pytest.approx(0.7))
    assert features_of({"val_acc": [0.95] * 5}).values["accuracy_over_macro"] is None


def test_a_plain_f1_counts_as_a_mean_of_classes_only_where_it_is_low(features_of: FeaturesOf) -> None:
    """An F1 of 0.55 is that of a class that is found; a balanced accuracy of 0.55 is a mean over all classes."""
    logged = {"val_f1": 0.55, "val_recall": 0.25, "val_bal_acc": 0.55}
    rows = {name: features_of({"val_acc": [0.95] * 5, name: [level] * 5}).values for name, level in logged.items()}
    below = {name: row["accuracy_over_macro"] for name, row in rows.items()}

    assert below == {"val_f1": None, "val_recall": pytest.approx(0.7), "val_bal_acc": pytest.approx(0.4)}


def test_lengths_are_compared_with_the_longest(features_of: FeaturesOf) -> None:
    """A loss of 6 at 4k against 2 at 512, and an accuracy of 0.1 against 0.9."""
    losses = features_of({"eval/loss_len_512": [2.0] * 4, "eval/loss_len_4k": [6.0] * 4}).values
    scores = features_of({"eval/acc_len_10": [0.9] * 4, "eval/acc_len_40": [0.1] * 4}).values

    assert (losses["length_count"], losses["length_longest"], losses["length_loss_ratio"]) == (2, 4096, 3.0)
    assert losses["length_longest_metric"] == "eval/loss_len_4k"
    assert (scores["length_longest"], scores["length_accuracy_fall"]) == (40, pytest.approx(0.8))


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    assert heldoutparts.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {}


def test_a_class_has_the_name_that_the_settings_give_it(features_of: FeaturesOf) -> None:
    """By its number, or by its name at the end of the metric; such a score is no macro average."""
    names = {"model.id2label.0": "cat", "model.id2label.1": "dog"}
    numbered = features_of({"val/recall_class_0": [0.98] * 5, "val/recall_class_1": [0.05] * 5}, names).values
    named = features_of({"eval/f1_cat": [0.02] * 5, "eval/f1_dog": [0.9] * 5, "eval_acc": [0.9] * 5}, names).values
    alone = features_of({"val/recall_class_0": [0.98] * 5, "val/recall_class_1": [0.05] * 5}).values

    assert (numbered["class_score_low_name"], numbered["class_score_high_name"]) == ("1 (dog)", "0 (cat)")
    assert (named["class_score_low_name"], named["class_score_low_metric"]) == ("cat", "eval/f1_cat")
    assert (named["class_score_count"], named["macro_score_last"]) == (2, None)
    assert alone["class_score_low_name"] == "1"
