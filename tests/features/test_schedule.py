"""Features of the learning rate."""

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from loganalyst.features import schedule
from loganalyst.features.context import Context
from loganalyst.model import Features, table

FeaturesOf = Callable[..., Features]
DECAY = (np.exp(-np.arange(200) / 40) + 0.1).tolist()


def test_rates_from_log_and_config(features_of: FeaturesOf) -> None:
    """The logged peak counts before the config."""
    logged = features_of({"lr": [0.1, 0.3, 0.1]}, {"lr": 5.0}).values
    assert (logged["lr_peak"], logged["lr_suggested"]) == (0.3, pytest.approx(0.1))
    assert features_of({"loss": DECAY}, {"optim.lr": 0.003}).values["lr_peak"] == 0.003
    assert features_of({"loss": DECAY}, {"max_grad_norm": 1.0}).values["config_clip"] == 1.0
    assert features_of({"loss": DECAY}, {"precision": "BF16-mixed"}).values["config_precision"] == "bf16-mixed"


def test_how_much_of_a_linear_decay_was_done(features_of: FeaturesOf) -> None:
    """The line through the peak and the last rate reaches 0 at step 100; a constant rate reaches it nowhere."""
    warm_up = [0.0002, 0.0006, 0.001]
    falls = [0.001 * (1 - i / 98) for i in range(1, 38)]
    row = features_of({"loss": DECAY[:40], "lr": warm_up + falls}).values

    assert (row["lr_kind"], row["lr_decay_done_share"]) == ("linear", pytest.approx(39 / 100))
    assert features_of({"loss": DECAY[:40], "lr": [0.001] * 40}).values["lr_decay_done_share"] is None


def test_a_rate_that_is_printed_as_zero(features_of: FeaturesOf) -> None:
    """Below half of the last digit it is not known, so it is neither 0 nor exhausted. The config may know it."""
    loss = [round(2 - 0.0037 * i, 4) for i in range(200)]
    rate = [round(0.0003 * (1 - i / 200), 4) for i in range(200)]
    falling = features_of({"loss": loss, "lr": rate}).values
    zero = features_of({"loss": loss, "lr": [0.0] * 200}, config={"lr": 2e-5}).values
    exact = features_of({"loss": [x / 3 for x in loss], "lr": [0.0] * 200}).values

    assert (falling["lr_exhausted_count"], falling["lr_last_share"], falling["lr_cut_at_share"]) == (None, None, None)
    assert (zero["lr_peak"], zero["lr_points"]) == (2e-5, None)
    assert (exact["lr_peak"], exact["lr_exhausted_count"]) == (0.0, 0)


def test_the_gain_after_a_cut_of_the_rate(features_of: FeaturesOf) -> None:
    """A loss that falls only after the cut was held back by the rate."""
    held = [10.0] * 60 + np.linspace(10, 5, 40).tolist()
    row = features_of({"loss": held, "lr": [20.0] * 60 + [5.0] * 40})

    assert row.values["lr_cut_at_share"] == pytest.approx(60 / 99)
    assert row.values["lr_cut_gain_share"] == pytest.approx(1.0)
    assert features_of({"loss": DECAY, "lr": [0.1] * 200}).values["lr_cut_gain_share"] is None


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """A rate or setting that is missing is None."""
    values = schedule.compute(context_of({"other": [1.0, 2.0, 3.0]}))

    assert values == {
        "lr_peak": None,
        "lr_known": False,
        "optimizer": None,
        "config_clip": None,
        "config_precision": None,
    }


def test_cuts_at_equal_distances(features_of: FeaturesOf) -> None:
    """StepLR(30) that is called once a batch."""
    rate = [0.1 ** (1 + i // 30) for i in range(150)]
    found = features_of({"loss": [1.0] * 150, "lr": rate}).values

    assert found["lr_cut_interval"] == 30.0


def test_cuts_at_other_distances(features_of: FeaturesOf) -> None:
    rate = [0.1] * 50 + [0.01] * 10 + [0.001] * 70 + [0.0001] * 20
    found = features_of({"loss": [1.0] * 150, "lr": rate}).values

    assert found["lr_cut_interval"] is None


def test_cuts_between_all_values(features_of: FeaturesOf) -> None:
    """The rate is logged every 50 steps and cut every 30: how often it is cut does not show."""
    steps = np.arange(0, 1000, 50)
    rates = [0.1 * 0.5 ** (step // 30) for step in steps.tolist()]
    points = [
        table("points", {"session": 0, "metric": metric, "step": steps, "value": values, "source": "m.csv"})
        for metric, values in (("loss", np.ones(20)), ("lr", np.array(rates)))
    ]

    assert features_of({}, points=pl.concat(points)).values["lr_cut_interval"] is None


@pytest.mark.parametrize(
    ("val", "on_stall"),
    [
        ([5.0, 4.0, 3.0, 3.1, 2.9, 3.0, 2.8], True),
        ([5.0, 4.0, 3.0, 2.9, 2.8, 2.7, 2.6], False),
    ],
)
def test_a_rate_that_is_cut_where_the_held_out_loss_stalls(
    features_of: FeaturesOf, val: list[float], on_stall: bool
) -> None:
    """The rate is divided by 4 after the evaluations 3 and 5."""
    rate = [20.0] * 4 + [5.0] * 2 + [1.25]
    found = features_of({"loss": val, "val_loss": val, "lr": rate}).values

    assert found["lr_cut_on_stall"] is on_stall


def test_a_planned_decay_is_no_answer_to_a_stall(features_of: FeaturesOf) -> None:
    """Near its end a linear decay falls fast between evaluations, while the held-out loss stands still."""
    val = [5.0, 4.0, 3.0, 2.9, 2.8, 2.81, 2.82, 2.83]
    found = features_of({"loss": val, "val_loss": val, "lr": [8.0, 7.0, 6.0, 5.0, 4.0, 2.0, 1.0, 0.0]}).values

    assert found["lr_cut_on_stall"] is False


@pytest.mark.parametrize(
    ("config", "precision"),
    [
        ({"fp16": True}, "fp16"),
        ({"fp16": False, "bf16": True}, "bf16"),
        ({"fp16": False, "bf16": False}, None),
        ({"bf16": True, "mixed_precision": "no"}, "no"),
    ],
)
def test_a_switch_names_the_precision(features_of, config, precision):
    """TrainingArguments of Hugging Face has one switch for each."""
    assert features_of({"loss": [1.0, 0.5]}, config).values["config_precision"] == precision
