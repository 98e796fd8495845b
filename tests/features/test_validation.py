"""Features of held-out losses."""

from collections.abc import Callable

import numpy as np
import pytest

from loganalyst.model import Features

FeaturesOf = Callable[..., Features]
NAN = float("nan")
DECAY = (np.exp(-np.arange(200) / 40) + 0.1).tolist()
TRAIN = [1.0, 0.8, 0.6, 0.4, 0.3, 0.2]


def test_overfitting_numbers(features_of: FeaturesOf) -> None:
    """Best held-out step, rise since then, and the fall of training meanwhile."""
    steps = np.arange(100)
    val = np.where(steps < 40, 1.0 - steps / 80, 0.5 + (steps - 40) / 200)
    row = features_of({"train_loss": (1.0 - steps / 110).tolist(), "val_loss": val.tolist()})

    assert row.values["val_loss_best_step"] == pytest.approx(40, abs=2)
    assert row.values["val_loss_rise_ratio"] == pytest.approx(1.55, abs=0.05)
    assert row.values["train_fall_since_val_best"] > 0.5


def test_the_fall_of_few_training_losses_is_that_of_logged_values(features_of: FeaturesOf) -> None:
    """Of three epochs the first and the last value count; of many noisy values their level does."""
    few = features_of({"loss": [0.386, 0.227, 0.113], "val_loss": [0.318, 0.32, 0.443]}).values
    many = features_of({"loss": DECAY, "val_loss": [0.5, *[1.0] * 199]}).values

    assert few["train_fall_logged"] == pytest.approx(1 - 0.113 / 0.386)
    assert many["train_fall_logged"] == many["train_fall_since_val_best"]
    assert features_of({"val_loss": [0.318, 0.32, 0.443]}).values["train_fall_logged"] is None


def test_the_last_held_out_loss_is_the_last_value(features_of: FeaturesOf) -> None:
    """Of sixty evaluations, not a value near the level of the last tenth; a NaN at the end does not count."""
    logged = np.linspace(1.0, 2.0, 60)
    row = features_of({"val_loss": [*logged, NAN]}).values

    assert row["val_loss_last"] == 2.0


def test_a_held_out_loss_that_ends_nan(features_of: FeaturesOf) -> None:
    """Intermittent NaN is harmless; a held-out loss that is NaN to the end is broken."""
    broken = features_of({"loss": DECAY, "val_loss": [*DECAY[:100], *[NAN] * 100]}).values
    passing = features_of({"loss": DECAY, "val_loss": [NAN, *DECAY[1:]]}).values

    assert (broken["val_loss_ends_nonfinite"], broken["val_loss_nonfinite_metric"]) == (True, "val_loss")
    assert passing["val_loss_ends_nonfinite"] is False


def test_a_held_out_loss_that_was_never_finite(features_of: FeaturesOf) -> None:
    """Named from two values on, or at once if infinite."""
    never = "val_loss_never_finite_metric"

    assert features_of({"loss": TRAIN, "val_loss": [NAN] * 2}).values[never] == "val_loss"
    assert features_of({"loss": TRAIN, "val_loss": [NAN]}).values[never] == ""
    assert features_of({"loss": TRAIN, "val_loss": [float("inf")]}).values[never] == "val_loss"
    assert features_of({"loss": TRAIN, "val_loss": [NAN, 1.0, NAN]}).values[never] == ""


@pytest.mark.parametrize(("batches", "gap"), [(1, pytest.approx(-0.25)), (400, None)])
def test_a_summed_loss_is_not_compared_with_a_mean(features_of: FeaturesOf, batches: int, gap: float | None) -> None:
    """A training loss summed over an epoch has no gap to the held-out mean, but its fall is known."""
    train = [2.0, 1.8, 1.6, 1.4, 1.2, 1.0]
    row = features_of({"train_loss": [batches * x for x in train], "val_loss": [0.75 * x for x in train]}).values

    assert row["train_val_gap_first"] == gap
    assert (row["train_val_gap"] is None) == (gap is None)
    assert row["val_below_train_share"] == (None if gap is None else 1.0)
    assert row["train_loss_drop_relative"] == pytest.approx(4 / 9)


def test_overfitting_across_axes(features_of: FeaturesOf) -> None:
    """A held-out loss by epoch turns in the middle; training by step continues to fall from there."""
    t = np.arange(2000) / 2000
    row = features_of({
        "train_loss": (2 * np.exp(-2 * t)).tolist(),
        "val_loss": [*np.linspace(2, 1, 10), *np.linspace(1.1, 2, 10)],
    })  # fmt: skip

    assert row.values["val_loss_best_step"] == 9
    assert row.values["train_fall_since_val_best"] == pytest.approx(1 - np.exp(-1), abs=0.02)
    assert 9 <= row.values["train_val_gap_onset_step"] <= 12  # type: ignore[operator]


def test_the_held_out_loss_as_a_multiple_of_the_training_loss(features_of: FeaturesOf) -> None:
    """18 times, not 1,700 % above."""
    found = features_of({"train_loss": [1.0, 0.5, 0.1, 0.1, 0.1, 0.1], "val_loss": [1.8] * 6}).values

    assert found["val_over_train"] == pytest.approx(18)
    assert found["val_loss_is_sum"] is False


@pytest.mark.parametrize(
    ("accuracy", "loss", "rose", "fell"),
    [
        ([0.1 + 0.02 * k for k in range(30)], [2.0 - 0.05 * k for k in range(30)], True, True),
        ([0.25] * 30, [2.0 - 0.05 * k for k in range(30)], False, True),
        ([0.25] * 30, [2.0] * 30, False, False),
        ([0.1, 0.2, 0.3], [2.0, 1.0, 0.5], False, True),
    ],
)
def test_gains_of_a_score_and_falls_of_a_loss(
    features_of: FeaturesOf, accuracy: list[float], loss: list[float], rose: bool, fell: bool
) -> None:
    """Three values are too few for a significant gain."""
    found = features_of({"val_acc": accuracy, "val_loss": loss}).values

    assert (found["val_score_rose"], found["val_loss_fell_far"]) == (rose, fell)


def test_the_second_half_of_the_held_out_loss(features_of: FeaturesOf) -> None:
    """The fall from the middle fifth to the last fifth; three values have no halves."""
    flat = features_of({"loss": DECAY, "val_loss": [9.6, 7.1, 6.0, 5.0, 4.5, 4.5, 4.5, 4.5, 4.5, 4.5]}).values
    falls = features_of({"loss": DECAY, "val_loss": [10.0, 9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0]}).values
    few = features_of({"loss": DECAY, "val_loss": [3.0, 2.0, 1.0]}).values

    assert flat["val_loss_half_drop_relative"] == 0.0
    assert falls["val_loss_half_drop_relative"] == pytest.approx((5.5 - 1.5) / 5.5)
    assert few["val_loss_half_drop_relative"] is None


@pytest.mark.parametrize(
    ("held_out", "rise"), [([2.0, 3.0, 2.5, 2.6], 0.25), ([2.0, 1.5, 3.0, 3.0], -0.25), ([np.nan, 1.0, 2.0, 2.0], None)]
)
def test_how_far_all_later_evaluations_are_above_the_first(
    features_of: FeaturesOf, held_out: list[float], rise: float | None
) -> None:
    """The lowest of them counts; an unknown first value compares with nothing."""
    row = features_of({"loss": [2.0, 1.9, 1.8, 1.7], "val_loss": held_out}).values

    assert row.get("val_loss_later_rise") == (None if rise is None else pytest.approx(rise))


@pytest.mark.parametrize(("losses", "lowest"), [(DECAY[:60], True), ([*DECAY[:60], *[1.5] * 20], False)])
def test_a_held_out_loss_may_end_lowest(features_of: FeaturesOf, losses: list[float], lowest: bool) -> None:
    """Beside a score, it is known whether the loss fell and ends near its lowest level; without a loss it did not."""
    scores = [0.3] * len(losses)

    assert features_of({"val_loss": losses, "val_acc": scores}).values["val_loss_ends_lowest"] is lowest
    assert features_of({"val_acc": scores}).values["val_loss_ends_lowest"] is False
