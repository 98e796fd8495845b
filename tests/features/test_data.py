"""What the data does: passes over it, parts of it, held-out values beside training from the start."""

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from loganalyst.model import Features, table

FeaturesOf = Callable[..., Features]


def passes(course: list[float]) -> pl.DataFrame:
    """A training loss with 20 points in each pass."""
    epochs = [i / 20 for i in range(len(course))]
    return table(
        "points",
        {
            "session": 0,
            "metric": "loss",
            "step": list(range(len(course))),
            "epoch": epochs,
            "value": course,
            "source": "m.csv",
        },
    )


def test_a_staircase_falls_at_the_ends_of_passes(features_of: FeaturesOf) -> None:
    """A loss that falls only there has a share of 1; one that falls evenly has a tenth or so."""
    stairs = features_of({}, points=passes([4.0] * 20 + [3.0] * 20 + [2.0] * 20 + [1.0] * 20)).values
    even = features_of({}, points=passes(np.linspace(4, 1, 80).tolist())).values

    assert (stairs["epoch_points"], stairs["run_epochs"]) == (20, pytest.approx(3.95))
    assert stairs["epoch_drop_share"] == 1.0
    assert stairs["epoch_drop_relative"] == pytest.approx(1 / 3)
    assert even["epoch_drop_share"] < 0.2


def test_the_same_order_in_each_pass_repeats_its_course(features_of: FeaturesOf) -> None:
    """Samples in one order give the same ups and downs, shuffled ones do not; without epochs nothing is known."""
    draw = np.random.default_rng(0)
    order = draw.normal(0, 0.1, 20)
    same = features_of({}, points=passes(np.concatenate([3 - 0.3 * k + order for k in range(5)]).tolist())).values
    shuffled = features_of({}, points=passes((3 + draw.normal(0, 0.1, 100)).tolist())).values

    assert same["epoch_repeat"] == pytest.approx(1.0)
    assert abs(shuffled["epoch_repeat"]) < 0.4
    assert features_of({"loss": [1.0] * 100}).values["epoch_repeat"] is None


def test_passes_of_nothing_but_nan_say_nothing(features_of: FeaturesOf) -> None:
    """A loss without a finite value has no passes to compare."""
    row = features_of({}, points=passes([float("nan")] * 80)).values

    assert row["run_epochs"] == pytest.approx(3.95)
    assert row["epoch_points"] is None


def test_the_worst_class_is_named(features_of: FeaturesOf) -> None:
    """Classes with a score of their own: lowest and highest; they are no held-out accuracy of the whole."""
    logged = {f"val/recall_class_{k}": [v] * 5 for k, v in ((0, 0.98), (1, 0.05), (2, 0.9))}
    row = features_of(logged).values

    assert (row["class_score_count"], row["class_score_low"], row["class_score_high"]) == (3, 0.05, 0.98)
    assert row["class_score_low_metric"] == "val/recall_class_1"
    assert row["val_score_metric"] is None


def test_accuracy_above_a_macro_score_is_seen(features_of: FeaturesOf) -> None:
    """0.95 of accuracy with 0.25 of macro F1 are 0.7 apart."""
    row = features_of({"val_acc": [0.95] * 5, "val_macro_f1": [0.25] * 5}).values

    assert (row["macro_score_last"], row["accuracy_over_macro"]) == (0.25, pytest.approx(0.7))
    assert features_of({"val_acc": [0.95] * 5}).values["accuracy_over_macro"] is None


def test_lengths_are_compared_with_the_longest(features_of: FeaturesOf) -> None:
    """A loss of 6 at 4k against 2 at 512, and an accuracy of 0.1 against 0.9."""
    losses = features_of({"eval/loss_len_512": [2.0] * 4, "eval/loss_len_4k": [6.0] * 4}).values
    scores = features_of({"eval/acc_len_10": [0.9] * 4, "eval/acc_len_40": [0.1] * 4}).values

    assert (losses["length_count"], losses["length_longest"], losses["length_loss_ratio"]) == (2, 4096, 3.0)
    assert losses["length_longest_metric"] == "eval/loss_len_4k"
    assert (scores["length_longest"], scores["length_accuracy_fall"]) == (40, pytest.approx(0.8))


def test_held_out_values_beside_training_from_the_first_evaluation_on(features_of: FeaturesOf) -> None:
    """Twice the training loss from the start; never below it. The other way round at a half, always below."""
    train = np.linspace(2, 1, 40)
    above = features_of({"train_loss": train.tolist(), "val_loss": (2 * train).tolist()}).values
    below = features_of({"train_loss": train.tolist(), "val_loss": (train / 2).tolist()}).values

    assert above["train_val_gap_first"] == pytest.approx(1.0, abs=0.01)
    assert above["val_below_train_share"] == 0.0
    assert below["val_below_train_share"] == 1.0


def test_held_out_values_that_stop_are_seen(features_of: FeaturesOf) -> None:
    """The last six of ten evaluations are the same to the last digit; with three decimals that may be chance."""
    still = [1.91234, 1.71234, 1.61234, 1.51234] + [1.41234] * 6
    row = features_of({"loss": [2.0] * 10, "val_loss": still}).values

    assert (row["val_still_count"], row["val_still_share"], row["val_still_step"]) == (6, 0.6, 4)
    assert features_of({"loss": [2.0] * 10, "val_loss": [1.41234] * 10}).values["val_still_share"] == 1.0
    assert features_of({"loss": [2.0] * 10, "val_loss": np.round(still, 2).tolist()}).values["val_still_count"] is None
    moving = np.linspace(2, 1.12345, 10).tolist()
    assert features_of({"loss": [2.0] * 10, "val_loss": moving}).values["val_still_count"] == 1


def test_held_out_accuracy_that_leads_is_seen(features_of: FeaturesOf) -> None:
    """Five points above training throughout, in per cent as in shares."""
    for unit in (1, 100):
        logged = {"train_acc": [0.9 * unit] * 6, "val_acc": [0.95 * unit] * 6}
        row = features_of(logged).values
        assert row["val_accuracy_lead"] == pytest.approx(0.05)
        assert row["val_accuracy_first"] == pytest.approx(0.95)


def test_smoothed_labels_leave_a_floor(features_of: FeaturesOf) -> None:
    """With 0.1 among 10 classes the least is the entropy of (0.91, 9 times 0.01)."""
    floor = -0.91 * np.log(0.91) - 0.09 * np.log(0.01)
    row = features_of({"loss": [0.55] * 10}, {"label_smoothing": 0.1, "num_classes": 10}).values

    assert row["train_loss_floor"] == pytest.approx(floor)
    assert row["train_loss_floor_ratio"] == pytest.approx(0.55 / floor)
    assert features_of({"loss": [0.55] * 10}, {"num_classes": 10}).values["train_loss_floor"] is None
