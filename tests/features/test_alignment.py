"""Features of coincidences with the trouble of the training loss."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from loganalyst.features.alignment import chance
from loganalyst.model import Features, table

FeaturesOf = Callable[..., Features]
STEPS = np.arange(1000)
RNG = np.random.default_rng(0)
FALL = 1 + np.exp(-STEPS / 200) + RNG.normal(0, 0.01, 1000)
JUMPED = FALL + np.where(STEPS >= 700, 1.0, 0.0)


def test_the_chance_is_the_share_of_steps_that_follow_as_closely() -> None:
    """The closed form agrees with counting every step that follows an event at most as far."""
    events = np.array([100.0, 130.0, 600.0])
    for at in (100, 105, 150, 700, 999):
        behind = [s - max((e for e in events if e <= s + 5), default=-np.inf) for s in STEPS]
        counted = np.mean(np.array(behind) <= max(behind[at], 5))

        assert chance(float(at), events, STEPS)[0] == pytest.approx(counted, abs=0.01)


def test_a_step_before_all_events_is_no_coincidence() -> None:
    """The chance is 1 and there is no event."""
    assert chance(50.0, np.array([100.0]), STEPS) == (1.0, None)


def test_uniform_onsets_have_uniform_chances() -> None:
    """One in ten onsets at random steps has a chance of at most a tenth."""
    events = RNG.choice(1000, 7, replace=False).astype(float)
    chances = np.array([chance(float(s), events, STEPS)[0] for s in STEPS])

    assert np.mean(chances <= 0.1) == pytest.approx(0.1, abs=0.03)


def test_a_jump_at_a_rise_of_the_rate(features_of: FeaturesOf) -> None:
    """The only change of the rate is the least likely coincidence."""
    rate = np.select([STEPS < 400, STEPS < 700], [1.0, 0.1], 1.0)
    row = features_of({"loss": JUMPED.tolist(), "lr": rate.tolist(), "val_loss": [1.0] * 100}).values

    assert row["trouble_step"] == pytest.approx(700, abs=5)
    assert row["trouble_kind"] in {"level_up", "divergence"}
    assert (row["trouble_near"], row["trouble_near_step"]) == ("a change of the learning rate", 700)
    assert row["trouble_rate_chance"] < 0.02  # type: ignore[operator]
    assert row["trouble_checkpoint_chance"] is None
    assert (row["lr_jump_count"], row["lr_jump_step"]) == (1, 700)


def test_a_jump_at_a_checkpoint(features_of: FeaturesOf) -> None:
    """The step at which a checkpoint was written counts."""
    saved = table("checkpoints", {"path": ["a.pt", "b.pt"], "step": [300, 698]})
    row = features_of({"loss": JUMPED.tolist()}, checkpoints=saved).values

    assert (row["trouble_near"], row["trouble_near_step"]) == ("a checkpoint", 698)
    assert row["trouble_near_chance"] < 0.02  # type: ignore[operator]


def test_a_falling_loss_has_no_trouble(features_of: FeaturesOf) -> None:
    """Without trouble there is no coincidence."""
    row = features_of({"loss": FALL.tolist(), "lr": np.where(STEPS < 500, 1.0, 0.1).tolist()}).values

    assert row["trouble_step"] is None
    assert row["trouble_rate_chance"] is None


@pytest.mark.parametrize(("distance", "of"), [(50, "evaluations"), (70, "none")])
def test_spikes_at_the_interval_of_evaluations(features_of: FeaturesOf, distance: int, of: str) -> None:
    """Spikes every 50 steps match evaluations every 50 steps; spikes every 70 match nothing."""
    spikes = np.where(STEPS % distance == 10, 1.0, 0.0)
    row = features_of({"loss": (FALL + spikes).tolist(), "epoch": (STEPS // 50).tolist()}).values

    assert row["train_loss_period"] == pytest.approx(distance)
    assert row["train_loss_period_of"] == ("epochs" if of == "evaluations" else "none")


def test_a_line_is_placed_by_its_time(features_of: FeaturesOf) -> None:
    """A fault reported at the time of step 697 is close to the jump at 700."""
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    fault = {"session": 0, "file": "a.log", "line": [1], "time": [begin + timedelta(seconds=697)], "part": ["symptom"]}
    points = {"session": 0, "metric": "loss", "step": STEPS, "value": JUMPED, "source": "m.csv"}
    timed = table("points", points | {"time": [begin + timedelta(seconds=int(s)) for s in STEPS]})
    row = features_of({}, points=timed, lines=table("lines", fault)).values

    assert (row["trouble_near"], row["trouble_near_step"]) == ("a line of the log", 697)
