"""Features of numeric range."""

from collections.abc import Callable

import pytest

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


@pytest.mark.parametrize("name", ["max_logit", "train/logits_max", "output_logit_abs_max"])
def test_the_largest_logit_counts_up_to_its_first_infinite_value(features_of: FeaturesOf, name: str) -> None:
    row = features_of({name: [8.0, 8.0, 400.0, 9000.0, float("inf"), 5.0, NAN]}).values

    assert (row["output_logit_metric"], row["output_logit_first"], row["output_logit_highest"]) == (name, 8.0, 9000.0)
    assert (row["output_logit_growth"], row["output_logit_ends_infinite"]) == (1125.0, True)
    assert features_of({"attn/max_logit": [8.0, 8.0, 9.0]}).values["output_logit_highest"] is None


@pytest.mark.parametrize(
    ("terms", "alone"),
    [
        ({"prior_loss": [0.1, 0.1, NAN, 0.1], "recon_loss": [1.0, 0.9, 0.8, 0.7]}, "prior_loss"),
        ({"prior_loss": [0.1, 0.1, NAN, 0.1], "recon_loss": [1.0, 0.9, NAN, 0.7]}, ""),  # both: bad inputs do that
        ({"prior_loss": [0.1, 0.1, 0.1, 0.1], "recon_loss": [1.0, 0.9, 0.8, 0.7]}, ""),
        ({"prior_loss": [0.1, 0.1, NAN, 0.1]}, None),  # a single term is always alone
    ],
)
def test_a_term_that_is_nan_alone(features_of: FeaturesOf, terms: dict[str, list[float]], alone: str | None) -> None:
    """Compared with the other terms of the same step."""
    assert features_of(terms).values.get("term_alone_nonfinite_metric") == alone


def test_the_loss_scale(features_of: FeaturesOf) -> None:
    """Its halvings and its lowest value."""
    row = features_of({"loss_scale": [65536.0, 32768.0, 32768.0, 16384.0, 1.0]})

    assert row.values["loss_scale_halvings"] == 3
    assert row.values["loss_scale_min_step"] == 4
    assert row.values["loss_scale_late_halvings"] == 2


def test_a_loss_scale_that_found_its_level(features_of: FeaturesOf) -> None:
    """It begins high and stays where no step overflows; -1 stands for no scale."""
    values = features_of({"loss_scale": [2.0**32 / 2**i for i in range(15)] + [131072.0] * 25 + [-1.0]}).values

    assert (values["loss_scale_halvings"], values["loss_scale_late_halvings"]) == (15, 0)
    assert (values["loss_scale_points"], values["loss_scale_last"]) == (40, 131072.0)


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    assert numerics.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {}


@pytest.mark.parametrize(
    ("counts", "share"),
    [
        ([0, 1, 2, 3], 1.0),  # every step
        ([0, 1, 1, 1], 1 / 3),
        ([0, 1, 0, 1], None),  # a count of each interval, not a counter
        ([0, 10, 20, 30], None),  # counts something else than steps
    ],
)
def test_the_share_of_skipped_steps(features_of, counts, share):
    """A counter that goes up with the steps gives their share; another one gives none."""
    assert features_of({"loss": [1.0] * 4, "skipped": counts}).values["skipped_share"] == share


def test_a_loss_that_was_never_finite(features_of):
    """It is named; a loss that becomes NaN, and one that was logged twice, do not count."""
    nan = float("nan")
    logged = {"loss": [1.0, 0.9, nan], "val/box_loss": [nan, nan, nan], "d_loss": [nan, nan]}
    values = features_of(logged).values

    assert (values["never_finite_count"], values["never_finite_metric"]) == (1, "val/box_loss")
    assert features_of({"loss": [1.0, 0.9], "val_loss": [nan, nan]}).values["never_finite_count"] == 1
    assert features_of({"loss": [1.0, 0.9], "val_loss": [nan]}).values["never_finite_count"] == 0
