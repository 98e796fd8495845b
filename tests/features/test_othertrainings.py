"""How many trainings stand beside the judged one."""

import json
from pathlib import Path

import pytest

from loganalyst.pipeline import diagnose_paths

FALL = [2 * 0.9**i for i in range(20)]


def other_trainings(path: Path, data: object) -> object:
    path.write_text(json.dumps(data))
    (found,) = diagnose_paths([path])
    return found.features.values["other_trainings"]


@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_judged_one_does_not_count(tmp_path: Path, count: int) -> None:
    losses = {"train_loss": FALL, "val_loss": [x + 0.1 for x in FALL]}
    found = other_trainings(tmp_path / "metrics.json", {f"fold_{i}": losses for i in range(count)})

    assert found == count - 1 or (count == 1 and found is None)


def test_not_known_without_a_training_loss(tmp_path: Path) -> None:
    assert other_trainings(tmp_path / "metrics.json", {"episode_reward": FALL, "episode_length": FALL}) is None
