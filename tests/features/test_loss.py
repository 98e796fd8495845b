"""Features of the training loss."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from loganalyst.features import loss
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]
NAN = float("nan")
DECAY = (np.exp(-np.arange(200) / 40) + 0.1).tolist()


def test_nan_in_the_training_loss(features_of: FeaturesOf) -> None:
    """Its start, its extent, and the rise before it."""
    row = features_of({"loss": [*DECAY[:100], 0.5, 1.0, 2.0, NAN, NAN, NAN]})

    assert row.values["train_loss_nonfinite_count"] == 1
    assert row.values["train_loss_nonfinite_step"] == 103
    assert row.witnesses["train_loss_nonfinite_step"].step == 103
    assert row.values["train_loss_finite_before"] == 103
    assert row.values["train_loss_ends_nonfinite"] is True
    assert row.values["train_loss_run_up_ratio"] == pytest.approx(1.0 / np.quantile(DECAY[40:100], 0.9))


def test_a_clean_loss_has_zero_events(features_of: FeaturesOf) -> None:
    """0 means searched and none found."""
    row = features_of({"loss": DECAY})

    assert row.values["train_loss_nonfinite_count"] == 0
    assert row.values["train_loss_nonfinite_step"] is None
    assert row.values["val_loss_nonfinite_count"] is None


@pytest.mark.parametrize(("end", "ratio"), [(math.nan, 4000.0), (6.0, 1.0)])
def test_the_first_fifth_is_one_of_the_run_not_of_the_finite_values(
    features_of: FeaturesOf, end: float, ratio: float
) -> None:
    """The 9th point is high: among the first 12 of 60 although all later ones are NaN, but late among 30."""
    loss = [40.0, 8.0, 7.0, 6.0, 5.0, 7.0, 9.0, 9.0, 160000.0]

    row = features_of({"loss": [*loss, *[end] * (51 if math.isnan(end) else 21)]})

    assert row.values["train_loss_early_max_ratio"] == pytest.approx(ratio)


@pytest.mark.parametrize(
    ("loss", "end", "burst"),
    [
        ([184.0, 1746.0, 1748.0, 1747.0], 1747 / 184, 1748 / 1746.5),
        ([0.5, 0.4, 0.3, 40.0], 0.6, 40 / 0.45),  # one value may be a batch
        ([6e15, 0.08, 0.09, 3e15, 0.06, 0.05, 0.07], 0.05 / 6e15, 3e15 / 0.08),
        ([1e8, 1e6, 1e3, 2.0, 1.0, 0.9, 1.8], 0.9 / 1e8, 1.0),  # high before it came down, as regressions are
        ([4.0, 3e-7, 2e-7, 0.5, 1e-7], 1e-7 / 4, 500.0),  # relative to almost nothing every value is large
        ([1.0, math.nan, 2.0, 9.0, 9.0], 9.0, 9 / 5.5),
        ([-1.0, 2.0, 9.0, 9.0], None, None),
        ([1.0, 2.0, 9.0], None, None),
    ],
)
def test_ends_and_bursts_of_short_losses(
    features_of: FeaturesOf, loss: list[float], end: float | None, burst: float | None
) -> None:
    """The lower of the last two relative to the first, and the largest relative to the median once reached."""
    row = features_of({"loss": loss}).values

    assert row["train_loss_end_ratio"] == (None if end is None else pytest.approx(end))
    assert row["train_loss_burst_ratio"] == (None if burst is None else pytest.approx(burst))


@pytest.mark.parametrize("points", [12, 1200])
def test_the_standard_error_of_a_fall(features_of: FeaturesOf, points: int) -> None:
    """That of a fitted line: equal to the noise for twelve values, a tenth of it for a hundred times as many."""
    values = 2 + 0.1 * np.random.default_rng(3).standard_normal(points)
    row = features_of({"loss": values.tolist()}).values

    noise = row["train_loss_noise_relative"] * row["train_loss_last"] / float(np.median(values[:3]))
    assert row["train_loss_drop_error"] == pytest.approx(noise * (12 / points) ** 0.5, rel=1e-3)


@pytest.mark.parametrize(("bend", "share"), [(0.0, 0.46), (5.0, 0.08)])
def test_the_share_of_the_fall_in_the_second_half(features_of: FeaturesOf, bend: float, share: float) -> None:
    """About half for a straight line, whose last level is the median of its last fifth; little for a bent curve."""
    t = np.linspace(0, 1, 201)
    loss = 2 - t if bend == 0 else 1 + np.exp(-bend * t)
    row = features_of({"loss": loss.tolist()}).values

    assert row["train_loss_late_fall_share"] == pytest.approx(share, abs=0.01)


def test_a_loss_that_rose_has_no_share_of_a_fall(features_of: FeaturesOf) -> None:
    """There is no fall whose part could lie in the second half."""
    assert features_of({"loss": np.linspace(1, 2, 50).tolist()}).values.get("train_loss_late_fall_share") is None


def test_the_share_of_values_below_zero(features_of: FeaturesOf) -> None:
    """Three of ten; 0 itself is not below."""
    row = features_of({"loss": [3.0, 2.0, 1.0, 0.5, 0.2, 0.1, 0.0, -1.0, -2.0, -3.0]}).values

    assert row["train_loss_negative_share"] == pytest.approx(0.3)


def test_ratios_of_rounded_losses_are_the_least_possible(features_of: FeaturesOf) -> None:
    """0.02 beside 0.01 may be 0.015 beside 0.0149: no spike and no burst."""
    flat = [round(0.3 * math.exp(-i / 9), 2) for i in range(40)] + [0.01] * 20 + [0.02] + [0.01] * 20
    row = features_of({"loss": flat}).values

    assert row["train_loss_late_spike_ratio"] == pytest.approx(1.0)
    assert row["train_loss_rise_ratio"] == pytest.approx(1.0)


def test_the_last_and_the_best_loss_are_logged_values(features_of: FeaturesOf) -> None:
    """A level lies between two values; the report shows one of them."""
    values = (2 + np.random.default_rng(5).standard_normal(100)).tolist()
    row = features_of({"loss": values}).values

    assert row["train_loss_last"] in values[-10:]
    assert (row["train_loss_best"], row["train_loss_best_step"]) == (min(values), values.index(min(values)))


def test_a_lone_low_value_is_the_best_but_not_the_best_level(features_of: FeaturesOf) -> None:
    """Reports name the lowest value; rules ask for the place of the lowest level."""
    values = np.concatenate([np.linspace(3, 1, 80), np.linspace(1, 2, 20)])
    values[20] = 0.5
    row = features_of({"loss": values.tolist()}).values

    assert (row["train_loss_best"], row["train_loss_best_step"]) == (0.5, 20)
    assert row["train_loss_best_share"] == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize(
    ("values", "share", "step"), [([NAN], None, None), ([3.0, NAN], None, 0), ([3.0, 2.0, NAN, NAN], 0.5, 1)]
)
def test_few_values_have_no_share_of_nan(
    features_of: FeaturesOf, values: list[float], share: float | None, step: int | None
) -> None:
    """One NaN of one value is not "100 %"; without a finite value before it there is no step to go back to."""
    row = features_of({"loss": values}).values

    assert (row["train_loss_nonfinite_share"], row["train_loss_last_finite_step"]) == (share, step)


@pytest.mark.parametrize(
    ("loss", "name", "said", "when", "step"),
    [
        ([3.0, 2.0], "Loss", [], None, None),
        ([3.0, 2.0, NAN], "Loss", [], "at step 2", 1),
        ([NAN, NAN], "Loss", [], "at step 0", None),
        ([3.0], "Loss", [NAN], "after step 0", 0),  # `Loss is nan, stopping training` after the row of step 0
        ([3.0], "train_loss", [NAN], "at step 0", None),  # another loss
    ],
)
def test_when_a_loss_was_first_not_finite(
    features_of: FeaturesOf, loss: list[float], name: str, said: list[float], when: str | None, step: int | None
) -> None:
    """A line without a step of its own has that of the row before it, whose loss may be finite."""
    row = features_of({"loss": loss} | ({name: said} if said else {})).values

    assert row["train_loss_nonfinite_when"] == when
    assert row["train_loss_last_finite_step"] == step


def test_the_first_value_relative_to_the_first_level(features_of: FeaturesOf) -> None:
    """The first level is a median of three, so a steep first epoch is not in it."""
    assert features_of({"loss": [NAN, 1.5, 1.0, 0.9, 0.9]}).values["train_loss_start_ratio"] == 1.5


def test_a_lasting_rise_in_standard_errors(features_of: FeaturesOf) -> None:
    """A rise of 15 % is 30 times its scatter; without a rise the change is small."""
    noise = np.random.default_rng(0).normal(0, 0.005, 200)
    fall, rise = np.linspace(3, 1, 100), np.linspace(1, 1.15, 100)

    found = features_of({"loss": (np.concatenate([fall, rise]) + noise).tolist()}).values
    flat = features_of({"loss": (np.concatenate([fall, np.ones(100)]) + noise).tolist()}).values

    assert found["train_loss_rise_z"] > 20
    assert flat["train_loss_rise_z"] < 3
    assert min(found["train_loss_drop_z"], flat["train_loss_drop_z"]) > 20


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    assert loss.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {}
