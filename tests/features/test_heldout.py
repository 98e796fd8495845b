"""Held-out scores and error rates: which one counts, and whether fewer words were wrong while the loss rose."""

from collections.abc import Callable

import pytest

from loganalyst.model import Features

FeaturesOf = Callable[..., Features]
NAN = float("nan")
TRAIN = [1.0, 0.8, 0.6, 0.4, 0.3, 0.2]
TURNED = [1.0, 0.5, 0.6, 0.7, 0.8, 0.9]  # lowest at the second evaluation
FALL = "val_error_fall_since_loss_best"


@pytest.mark.parametrize(
    ("name", "values", "fall"),
    [
        ("eval_wer", [0.4, 0.2, 0.2, 0.16, 0.15, 0.1], 0.5),  # from 0.3, the median of 0.4 and 0.2, to 0.15
        ("eval_wer", [40.0, 20.0, 20.0, 16.0, 15.0, 10.0], 0.5),
        ("test_cer", [0.4, 0.2, 0.3, 0.4, 0.4, 0.4], 0.0),  # it rose
        ("val_acc", [0.6, 0.8, 0.82, 0.84, 0.85, 0.86], 0.0),  # a rising accuracy excuses no rising loss
    ],
)
def test_words_that_became_right(features_of: FeaturesOf, name: str, values: list[float], fall: float) -> None:
    """The fall of an error rate from the lowest held-out loss to the end, medians of three."""
    row = features_of({"loss": TRAIN, "val_loss": TURNED, name: values})

    assert row.values[FALL] == pytest.approx(fall)


def test_no_error_rate_is_no_fall(features_of: FeaturesOf) -> None:
    """Known wherever there is a held-out loss, so that questions can be answered; not known without one."""
    assert features_of({"loss": TRAIN, "val_loss": TURNED}).values[FALL] == 0.0
    assert features_of({"loss_box": TRAIN, "val_loss_box": TURNED}).values[FALL] == 0.0
    assert features_of({"loss": TRAIN, "val_acc": [0.5] * 6}).values[FALL] is None


def test_precision_and_recall_stand_back(features_of: FeaturesOf) -> None:
    """Recall that is given up for precision is no loss where F1 tells of both; alone it counts."""
    falls = {"Recall": [0.99, 0.9, 0.8, 0.7], "Precision": [0.2, 0.3, 0.4, 0.5]}

    assert features_of({**falls, "F1 Score": [0.3, 0.4, 0.5, 0.6]}).values["val_score_metric"] == "F1 Score"
    assert features_of(falls).values["val_score_metric"] == "Recall"
    average = {"average_precision": [0.2, 0.3, 0.4, 0.5], "val_recall": [0.9] * 4}
    assert features_of(average).values["val_score_metric"] == "average_precision"


def test_an_error_rate_is_a_score_turned_round(features_of: FeaturesOf) -> None:
    """What it leaves of 1."""
    row = features_of({"eval_wer": [50.0, 40.0, 30.0, 20.0]}).values

    assert (row["val_score_metric"], row["val_score_last"], row["val_score_best"]) == ("eval_wer", 0.8, 0.8)
    assert (row["accuracy_gap"], row["val_accuracy_last"]) == (None, None)


def test_a_held_out_loss_that_never_was_a_number(features_of: FeaturesOf) -> None:
    """Named from three values on, an infinite one at once; one that is finite at times is not."""
    never = "val_loss_never_finite_metric"

    assert features_of({"loss": TRAIN, "val_loss": [NAN] * 3}).values[never] == "val_loss"
    assert features_of({"loss": TRAIN, "val_loss": [NAN] * 2}).values[never] == ""
    assert features_of({"loss": TRAIN, "val_loss": [float("inf")]}).values[never] == "val_loss"
    assert features_of({"loss": TRAIN, "val_loss": [NAN, 1.0, NAN]}).values[never] == ""


def test_the_first_value_against_the_first_level(features_of: FeaturesOf) -> None:
    """The first level is a median of three: a first epoch that fell far is not in it."""
    assert features_of({"loss": [NAN, 1.5, 1.0, 0.9, 0.9]}).values["train_loss_start_ratio"] == 1.5


@pytest.mark.parametrize(("batches", "gap"), [(1, pytest.approx(-0.25)), (400, None)])
def test_a_sum_is_not_laid_beside_a_mean(features_of: FeaturesOf, batches: int, gap: float | None) -> None:
    """A training loss summed over an epoch is hundreds of times the held-out mean: no gap is told, its fall is."""
    train = [2.0, 1.8, 1.6, 1.4, 1.2, 1.0]
    row = features_of({"train_loss": [batches * x for x in train], "val_loss": [0.75 * x for x in train]}).values

    assert row["train_val_gap_first"] == gap
    assert (row["train_val_gap"] is None) == (gap is None)
    assert row["val_below_train_share"] == (None if gap is None else 1.0)
    assert row["train_loss_drop_relative"] == pytest.approx(4 / 9)


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
def test_errors_that_are_left(features_of: FeaturesOf, logged: dict[str, list[float]], left: float | None) -> None:
    """Of training, where it is logged; not known where there were none at first."""
    found = features_of(logged).values["accuracy_errors_left"]

    assert found == (None if left is None else pytest.approx(left))
