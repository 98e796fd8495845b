"""Features of held-out values compared with training."""

from collections.abc import Callable

import numpy as np
import pytest

from loganalyst.features import heldout
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]
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
def test_the_fall_of_an_error_rate(features_of: FeaturesOf, name: str, values: list[float], fall: float) -> None:
    """From the lowest held-out loss to the end, by medians of three."""
    row = features_of({"loss": TRAIN, "val_loss": TURNED, name: values})

    assert row.values[FALL] == pytest.approx(fall)


def test_without_an_error_rate_the_fall_is_zero(features_of: FeaturesOf) -> None:
    """Known with any held-out loss, so that rules can use it; unknown without one."""
    assert features_of({"loss": TRAIN, "val_loss": TURNED}).values[FALL] == 0.0
    assert features_of({"loss_box": TRAIN, "val_loss_box": TURNED}).values[FALL] == 0.0
    assert features_of({"loss": TRAIN, "val_acc": [0.5] * 6}).values[FALL] is None


def test_held_out_loss_relative_to_training(features_of: FeaturesOf) -> None:
    """Twice the training loss from the start and never below it; or half of it and always below."""
    train = np.linspace(2, 1, 40)
    above = features_of({"train_loss": train.tolist(), "val_loss": (2 * train).tolist()}).values
    below = features_of({"train_loss": train.tolist(), "val_loss": (train / 2).tolist()}).values

    assert above["train_val_gap_first"] == pytest.approx(1.0, abs=0.01)
    assert above["val_below_train_share"] == 0.0
    assert below["val_below_train_share"] == 1.0


def test_held_out_losses_that_stop_changing(features_of: FeaturesOf) -> None:
    """The last six of ten evaluations are equal to the last digit; with three decimals that may be chance."""
    still = [1.91234, 1.71234, 1.61234, 1.51234] + [1.41234] * 6
    row = features_of({"loss": [2.0] * 10, "val_loss": still}).values

    assert (row["val_still_count"], row["val_still_share"], row["val_still_step"]) == (6, 0.6, 4)
    assert features_of({"loss": [2.0] * 10, "val_loss": [1.41234] * 10}).values["val_still_share"] == 1.0
    assert features_of({"loss": [2.0] * 10, "val_loss": np.round(still, 2).tolist()}).values["val_still_count"] is None
    moving = np.linspace(2, 1.12345, 10).tolist()
    assert features_of({"loss": [2.0] * 10, "val_loss": moving}).values["val_still_count"] == 1


def test_rounded_losses_that_come_to_rest_do_not_stop(features_of: FeaturesOf) -> None:
    """A decay that falls below its last digit repeats; a loss that changed by ten digits until then has stopped."""
    rest = [round(0.34217 + 1.2 * 0.6**i, 4) for i in range(40)]
    stop = [round(0.34217 + 1.2 * 0.6 ** min(i, 5), 4) for i in range(40)]

    assert features_of({"val_loss": rest}).values["val_still_count"] is None
    assert features_of({"val_loss": stop}).values["val_still_count"] == 35


def test_held_out_accuracy_above_training(features_of: FeaturesOf) -> None:
    """Five points above training throughout, in per cent and as shares."""
    for unit in (1, 100):
        logged = {"train_acc": [0.9 * unit] * 6, "val_acc": [0.95 * unit] * 6}
        row = features_of(logged).values
        assert row["val_accuracy_lead"] == pytest.approx(0.05)
        assert row["val_accuracy_first"] == pytest.approx(0.95)
        assert row["val_accuracy_begins_good"] is True


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0; only that no accuracy stayed low is known."""
    assert heldout.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {"val_accuracy_never_learned": False}


@pytest.mark.parametrize(
    ("logged", "times", "apart"),
    [
        ({"val_loss": [9.0, 8.0, 6.0], "test_loss": [0.5]}, 12.0, True),
        ({"val_loss": [0.9, 0.8, 0.6], "test_loss": [0.5]}, pytest.approx(1.2), False),
        ({"val_loss": [0.9, 0.8, 0.6]}, None, False),
    ],
)
def test_two_held_out_sets(
    features_of: FeaturesOf, logged: dict[str, list[float]], times: float | None, apart: bool
) -> None:
    """The last loss of the first set, divided by that of the other."""
    values = features_of({"loss": [1.0, 0.8, 0.5], **logged}).values

    assert (values["held_out_sets_ratio"], values["held_out_sets_apart"]) == (times, apart)


def test_a_held_out_accuracy_that_never_rose(features_of: FeaturesOf) -> None:
    """One that stays at 0.16 was never learned; one that reaches 0.5, one in four values, and none were not."""
    low, risen = [0.16, 0.18, 0.15, 0.17, 0.16], [0.16, 0.3, 0.4, 0.5, 0.5]
    found = [features_of({"val_acc": values}).values["val_accuracy_never_learned"] for values in (low, risen, low[:4])]

    assert found == [True, False, False]
    assert features_of({"loss": low}).values["val_accuracy_never_learned"] is False
