"""How much of its fall a held-out loss gave back."""

from collections.abc import Callable

import numpy as np
import pytest

from loganalyst.features import heldoutrise
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]
LOSSES = [2.0, 1.5, 1.2, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6]


@pytest.mark.parametrize(
    ("losses", "given_back"),
    [
        ([2.0, 1.0, 0.5, 0.5, 0.5], 0.0),
        ([2.0, 1.0, 0.5, 0.8, 0.8], 0.2),
        ([2.0, 1.0, 0.5, 3.0, 3.0], 1.0),
        ([2.0, 2.1, 2.2, 2.3, 2.4], 1.0),
        ([2.0, 2.0, 2.0, 2.0, 2.0], 1.0),
    ],
)
def test_a_rise_is_a_share_of_the_fall_before_it(
    features_of: FeaturesOf, losses: list[float], given_back: float
) -> None:
    """A loss that falls by 1.5 and rises by 0.3 gives back a fifth; one that never fell gave back all."""
    row = features_of({"loss": [1.0] * 30, "val_loss": np.repeat(losses, 6).tolist()}).values

    assert row["val_loss_given_back"] == pytest.approx(given_back)


def test_the_witness_is_the_lowest_loss(features_of: FeaturesOf) -> None:
    """It is at the third evaluation, step 2."""
    witness = features_of({"val_loss": [2.0, 1.0, 0.5, 0.8, 0.8]}).witnesses["val_loss_given_back"]

    assert (witness.metric, witness.step) == ("val_loss", 2)


def test_without_a_held_out_loss_nothing_is_known(features_of: FeaturesOf) -> None:
    """A training loss alone gives back nothing."""
    assert features_of({"loss": [1.0, 0.5, 0.7]}).values["val_loss_given_back"] is None


def test_compute_gives_all_features(context_of: Callable[..., Context]) -> None:
    """Each declared feature has a value."""
    found = heldoutrise.compute(context_of({"val_loss": LOSSES, "val_acc": np.linspace(0.1, 0.9, 10).tolist()}))

    assert set(found) == {f.name for f in heldoutrise.FEATURES}


@pytest.mark.parametrize(
    ("scores", "risen"),
    [
        ([0.1, 0.2, 0.3, 0.4, 0.5, 0.5, 0.6, 0.6, 0.6, 0.6], True),
        ([0.1, 0.2, 0.3, 0.4, 0.4, 0.3, 0.3, 0.3, 0.3, 0.3], False),
    ],
)
def test_a_score_may_rise_while_the_loss_does(features_of: FeaturesOf, scores: list[float], risen: bool) -> None:
    row = features_of({"loss": np.linspace(2, 0.1, 10).tolist(), "val_loss": LOSSES, "val_acc": scores}).values

    assert row["val_score_rose_since_loss_best"] is risen
    assert row["val_score_risen_metric"] == ("val_acc" if risen else None)


def test_without_a_score_nothing_is_known_of_it(features_of: FeaturesOf) -> None:
    row = features_of({"loss": np.linspace(2, 0.1, 10).tolist(), "val_loss": LOSSES}).values

    assert (row["val_score_rose_since_loss_best"], row["val_score_risen_metric"]) == (None, None)


@pytest.mark.parametrize(
    ("level", "swings"), [([1.0] * 40, True), ([8.0] * 20 + [1.0] * 20, False), ([1.0] * 20 + [8.0] * 20, False)]
)
def test_a_loss_that_swings_neither_fell_nor_rose(features_of: FeaturesOf, level: list[float], swings: bool) -> None:
    """Values that scatter by a factor around one level swing; a fall or a rise to another level is a course."""
    noise = np.exp(np.random.default_rng(3).normal(0.0, 1.0, 40))
    row = features_of({"loss": np.linspace(2.0, 0.2, 40).tolist(), "val_loss": (np.array(level) * noise).tolist()})

    assert row.values["val_loss_swings"] is swings
    assert features_of({"val_loss": [1.0, 9.0, 1.0, 7.0]}).values["val_loss_swings"] is False
