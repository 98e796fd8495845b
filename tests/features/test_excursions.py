"""Stretches of losses far above the level before and after them."""

from typing import Any

import numpy as np
import pytest

RNG = np.random.default_rng(7)
FALLING = 2.0 * np.exp(-np.arange(2000) / 900) * (1 + 0.05 * RNG.standard_normal(2000)) + 0.5


def raised(at: int, points: int, times: float) -> list[float]:
    x = FALLING.copy()
    x[at : at + points] *= times
    return list(x)


def test_a_stretch_that_begins_and_ends_at_once(features_of: Any) -> None:
    found = features_of({"loss": raised(1100, 12, 4.0)})

    assert found.values["excursion_count"] == 1
    assert found.values["excursion_step"] == 1100
    assert found.values["excursion_points"] == 12
    assert found.values["excursion_ratio"] == pytest.approx(4.0, rel=0.1)
    assert found.witnesses["excursion_step"].step == 1100


@pytest.mark.parametrize(
    ("at", "points", "times"),
    [
        (1100, 2, 4.0),  # a spike
        (1100, 12, 1.4),  # a small rise
        (100, 12, 4.0),  # at the start, where the loss still falls
        (1990, 10, 4.0),  # no return
        (1100, 300, 4.0),  # a phase of the run
    ],
)
def test_what_is_no_excursion(features_of: Any, at: int, points: int, times: float) -> None:
    assert features_of({"loss": raised(at, points, times)}).values["excursion_count"] == 0


@pytest.mark.parametrize("values", [FALLING[:150], np.append(FALLING, np.nan), FALLING - 1.0])
def test_short_broken_and_negative_losses_are_not_judged(features_of: Any, values: Any) -> None:
    assert features_of({"loss": list(values)}).values["excursion_count"] is None


def test_a_level_that_stays_higher_is_no_excursion(features_of: Any) -> None:
    """The weights suffered, or the data changed for good."""
    x = np.array(raised(1100, 12, 8.0))
    x[1112:] *= 1.4

    assert features_of({"loss": list(x)}).values["excursion_count"] == 0


def test_a_slow_return_is_no_excursion(features_of: Any) -> None:
    """A bad batch lasts as long as it is read, and a disturbed model recovers step by step."""
    x = FALLING.copy()
    x[1100:] *= 1 + 10 * np.exp(-np.arange(900) / 10)

    assert features_of({"loss": list(x)}).values["excursion_count"] == 0
