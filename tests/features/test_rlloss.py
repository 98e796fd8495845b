"""Features of a loss in reinforcement learning."""

from collections.abc import Callable

import pytest

from loganalyst.model import Features

FeaturesOf = Callable[..., Features]
REWARD = [float(k % 7) for k in range(40)]


def test_a_loss_that_feeds_on_its_own_targets(features_of: FeaturesOf) -> None:
    """From 10 to a billion; of two losses the one that grew further counts."""
    away = [10.0] * 5 + [1e9] * 35
    row = features_of({"reward": REWARD, "loss": [2.0] * 40, "td_total_loss": away}).values

    assert (row["rl_loss_metric"], row["rl_loss_growth"], row["rl_loss_last"]) == ("td_total_loss", 1e8, 1e9)
    assert row["rl_loss_ran_away"] is True


@pytest.mark.parametrize("loss", [[1e-9 * 10**k for k in range(11)], [1.0 + k for k in range(40)], [0.0] * 40])
def test_a_loss_that_grew_within_reason(loss: list[float], features_of: FeaturesOf) -> None:
    """From almost nothing to 10, with the returns, or not at all."""
    assert features_of({"reward": REWARD[: len(loss)], "loss": loss}).values["rl_loss_ran_away"] is False


def test_no_such_loss(features_of: FeaturesOf) -> None:
    row = features_of({"reward": REWARD}).values

    assert (row["rl_loss_growth"], row["rl_loss_ran_away"]) == (None, False)
