"""Pauses between logged rows, and how long they should have been."""

from collections.abc import Sequence

import numpy as np
import pytest

from loganalyst.curves.logtimes import pauses
from loganalyst.curves.roles import all_roles
from loganalyst.model import Curve

NO_CHECKPOINTS = np.empty(0)


def curve(
    times: Sequence[float], *, steps: Sequence[int] | None = None, sessions: Sequence[int] | None = None
) -> Curve:
    n = len(times)
    return Curve(
        "loss", all_roles()["train_loss"],
        np.arange(n) if steps is None else np.array(steps),
        np.ones(n), np.array(times, float), np.full(n, np.nan),
        np.zeros(n, np.int32) if sessions is None else np.array(sessions, np.int32),
        np.full(n, -1), "a.csv",
    )  # fmt: skip


def test_a_pause_is_compared_with_the_usual_one() -> None:
    """40 rows every 10 s and one pause of 100 s before row 15."""
    times = np.arange(40) * 10.0
    times[15:] += 90

    found = pauses([curve(times.tolist())], NO_CHECKPOINTS)

    assert found is not None
    assert found.seconds.max() == 100
    assert found.ends[np.argmax(found.seconds)] == 15
    assert found.ratio.max() == 10
    assert set(found.expected) == {10.0}


def test_a_pause_in_which_a_checkpoint_was_written_is_expected() -> None:
    times = np.arange(40) * 10.0
    times[15:] += 90

    found = pauses([curve(times.tolist())], np.array([200.0]))

    assert found is not None
    assert found.ratio.max() == 1


def test_pauses_at_equal_distances_are_expected() -> None:
    """Every tenth row waits 100 s."""
    times = np.cumsum(np.where(np.arange(60) % 10 == 0, 100.0, 10.0))

    found = pauses([curve(times.tolist())], NO_CHECKPOINTS)

    assert found is not None
    assert found.ratio.max() == 1


def test_a_pause_of_many_steps_may_be_long() -> None:
    steps = [*range(30), 130]
    times = [*(10.0 * k for k in range(30)), 1290.0]

    found = pauses([curve(times, steps=steps)], NO_CHECKPOINTS)

    assert found is not None
    assert found.expected[-1] == pytest.approx(1010)


def test_time_between_sessions_is_no_pause() -> None:
    times = np.arange(40) * 10.0
    times[20:] += 5000
    sessions = [0] * 20 + [1] * 20

    found = pauses([curve(times.tolist(), sessions=sessions)], NO_CHECKPOINTS)

    assert found is not None
    assert found.seconds.max() == 10


@pytest.mark.parametrize("times", [np.arange(15.0), np.full(40, np.nan)])
def test_too_few_times_have_no_pauses(times: np.ndarray) -> None:
    assert pauses([curve(times.tolist())], NO_CHECKPOINTS) is None
