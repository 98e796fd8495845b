"""Features of a training loss that ends at 0."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from loganalyst import pipeline
from loganalyst.features import losszero
from loganalyst.features.context import Context
from loganalyst.features.losszero import zero_as_logged
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]
DECAY = [2.3 * math.exp(-i / 60) + 0.5 for i in range(100)]
SHARE = "train_loss_before_zero_share"


def test_a_lasting_zero(features_of: FeaturesOf) -> None:
    """0 to the end is an event with its step; a single 0 is not."""
    row = features_of({"loss": [*DECAY[:50], *[0.0] * 20]}).values

    assert (row["train_loss_zero_count"], row["train_loss_zero_step"]) == (1, 50)
    assert row["train_loss_zero_value"] == "exactly 0"
    assert features_of({"loss": [*DECAY[:50], 0.0, *DECAY[51:]]}).values["train_loss_zero_count"] == 0


def test_the_level_before_the_zero(features_of: FeaturesOf) -> None:
    """A loss that was always 0 has none."""
    name = "train_loss_level_before_zero"

    assert features_of({"loss": [*DECAY[:50], *[0.0] * 20]}).values[name] == pytest.approx(np.median(DECAY[45:50]))
    assert features_of({"loss": [0.0] * 20}).values[name] is None


@pytest.mark.parametrize(
    ("name", "moves", "wanted"),
    [("Train Loss", True, "Train Loss"), ("Train Loss", False, None), ("noise", True, None)],
)
def test_a_metric_that_is_always_0_is_a_placeholder(tmp_path: Path, name: str, moves: bool, wanted: str | None) -> None:
    """If the held-out loss moves; where it does not, no weight moves either."""
    rows = "".join(f"{i},0.0,{2.0 - moves * i / 20}\n" for i in range(20))
    (tmp_path / "losses.csv").write_text(f"epoch,{name},Validation Loss\n{rows}", "utf-8")
    [found] = pipeline.diagnose_paths([tmp_path])

    assert found.features.values["train_loss_placeholder"] == wanted


def test_a_printed_zero_is_described_as_printed(features_of: FeaturesOf) -> None:
    """With the bound that its last digit gives."""
    printed = [round(x, 3) for x in DECAY[:50]]

    assert features_of({"loss": [*printed, 0.0, 0.0, 0.0]}).values["train_loss_zero_value"] == "0.000 (below 0.0005)"
    assert zero_as_logged(1e-6) == "0.000000 (below 0.0000005)"


def test_a_loss_that_reaches_zero_gradually(features_of: FeaturesOf) -> None:
    """A hinge loss, or one rounded to three digits, reaches 0; a loss that is cut off does not."""
    rounded = np.round(0.01 * np.exp(-np.arange(60) / 5), 3).tolist()

    assert features_of({"loss": [*DECAY[:50], *[0.0] * 20]}).values[SHARE] == pytest.approx(
        np.median(DECAY[45:50]) / np.median(DECAY[:3])
    )
    assert features_of({"loss": rounded}).values[SHARE] == 0.0
    assert features_of({"loss": DECAY}).values[SHARE] is None
    assert features_of({"loss": [6.2645, *[0.0] * 9]}).values[SHARE] == 1.0
    assert features_of({"loss": [0.01, *[0.0] * 9]}).values[SHARE] == 0.0


@pytest.mark.parametrize(
    ("before", "share"),
    [
        ([0.6931, 0.2018, 0.0113], 0.0),  # to less than 0.00005: by 226 at most; it fell by 18 before
        ([2.3026, 0.4127, 0.0211, 0.0018], 0.0),
        ([2.3026, 2.2914, 2.2851, 2.2803], 0.9986),
        ([2.3026, 1.1318, 0.5127, 0.2511], 0.7267),  # halved at each step, then nothing
    ],
)
def test_a_printed_loss_falls_as_fast_as_before_or_stops(
    features_of: FeaturesOf, before: list[float], share: float
) -> None:
    """Four decimals: what came before shows whether the next value may be below the last digit."""
    row = features_of({"loss": [*before, *[0.0] * 9]}).values

    assert row[SHARE] == pytest.approx(share, abs=1e-3)


def test_a_complete_accuracy_explains_a_loss_of_zero(features_of: FeaturesOf) -> None:
    """In shares and in per cent, of training or held-out data."""
    loss = [*DECAY[:20], *[0.0] * 20]
    right = [0.5] * 20 + [1.0] * 20

    assert features_of({"loss": loss, "val_acc": right}).values[SHARE] == 0.0
    assert features_of({"loss": loss, "train_acc": [100 * x for x in right]}).values[SHARE] == 0.0
    assert features_of({"loss": loss, "val_acc": [0.5] * 20 + [0.1] * 20}).values[SHARE] > 0.5


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    assert losszero.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {}
