"""Features of a curriculum: its changes, and whether the loss went wrong there."""

from collections.abc import Callable

import numpy as np
import pytest

from loganalyst.features import curriculum
from loganalyst.features.context import Context
from loganalyst.model import Features

LOSS = np.concatenate([np.geomspace(2.0, 0.5, 300), np.full(100, 3.0)]) + 0.01 * np.sin(np.arange(400) * 2.4)
STAGE = np.repeat([0.0, 1.0], [300, 100])


def test_a_logged_stage_shows_its_changes(features_of: Callable[..., Features]) -> None:
    """Loss and stage both jump at step 300; by chance that happens to one step in a hundred."""
    values = features_of({"train/loss": LOSS, "curriculum/stage": STAGE}).values

    assert (values["curriculum_change_count"], values["curriculum_change_step"]) == (1, 300)
    assert values["curriculum_name"] == "curriculum/stage"
    assert values["trouble_curriculum_chance"] == pytest.approx(0.01, abs=0.006)


def test_a_distant_change_is_a_coincidence(features_of: Callable[..., Features]) -> None:
    """A stage that began 200 steps before has a high chance."""
    values = features_of({"train/loss": LOSS, "difficulty": np.repeat([1.0, 2.0], [100, 300])}).values

    assert values["curriculum_change_step"] == 100
    assert values["trouble_curriculum_chance"] > 0.5


def test_a_setting_places_the_change(features_of: Callable[..., Features]) -> None:
    """`curriculum_switch_epoch` times the steps per epoch."""
    epoch = np.arange(400) // 50
    values = features_of({"train/loss": LOSS, "epoch": epoch}, config={"curriculum_switch_epoch": 6}).values

    assert (values["curriculum_change_count"], values["curriculum_change_step"]) == (1, 300)


def test_a_stage_that_never_changes_is_no_event(features_of: Callable[..., Features]) -> None:
    """A constant stage counts 0 changes; without a stage nothing is known."""
    still = features_of({"train/loss": LOSS, "curriculum/stage": np.zeros(400)}).values
    none = features_of({"train/loss": LOSS}).values

    assert (still["curriculum_change_count"], still["curriculum_change_step"]) == (0, None)
    assert none["curriculum_change_count"] is None


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    assert curriculum.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {}
