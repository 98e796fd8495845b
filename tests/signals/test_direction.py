"""The direction of harm."""

import numpy as np
import pytest

from loganalyst.model import Role
from loganalyst.signals import change_points
from loganalyst.signals.direction import direction
from tests.signals.noisycurve import CURVE, NOISE, kinds


def test_roles_give_the_direction():
    """A role, its name, and the caller decide which way is worse; the caller wins."""
    values = 5 + np.log(NOISE)
    values[2500] -= 1
    reward = Role("reward", "", "down", True)

    assert [(2500, "spike")] == kinds(values, role=reward) == kinds(values, role="reward")
    assert kinds(values, role=reward, worse="up") == []


def test_unknown_role_names_the_nearest():
    """A misspelt role is refused with the name that was meant."""
    with pytest.raises(ValueError, match="did you mean 'train_loss'"):
        change_points(CURVE, role="train_los")
    with pytest.raises(ValueError, match="allowed are 'up', 'down'"):
        change_points(CURVE, worse="sideways")


@pytest.mark.parametrize(
    ("role", "worse", "expected"),
    [
        (None, None, "up"),
        (None, "down", "down"),
        ("reward", None, "down"),
        ("reward", "up", "up"),
        ("step", None, None),
    ],
)
def test_the_callers_word_comes_before_the_role(role, worse, expected):
    assert direction(role, worse) == expected
