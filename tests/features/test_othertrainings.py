"""How many trainings stand beside the judged one."""

from collections.abc import Callable

import pytest

from loganalyst.model import Features

FALL = [2 * 0.9**i for i in range(20)]


@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_judged_one_does_not_count(features_of: Callable[..., Features], count: int) -> None:
    """One name alone is one training."""
    losses = {"train_loss": FALL, "val_loss": [x + 0.1 for x in FALL]}
    logged = {f"fold_{i}/{name}": values for i in range(count) for name, values in losses.items()}

    assert features_of(logged).values["other_trainings"] in ((count - 1,) if count > 1 else (0, None))


def test_not_known_without_a_training_loss(features_of: Callable[..., Features]) -> None:
    """A reward only."""
    assert features_of({"episode_reward": FALL}).values["other_trainings"] is None
