"""The quick look before the full pipeline."""

import numpy as np
import pytest

from loganalyst.signals.quicklook import suspicious

NOISE = np.random.default_rng(0).normal(0, 0.1, 640)


def spiked(at: int) -> np.ndarray:
    values = NOISE.copy()
    values[at] += 3
    return values


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (NOISE, False),
        (NOISE - np.linspace(0, 5, 640), False),
        (NOISE + np.linspace(0, 5, 640), True),
        (np.where(np.arange(640) >= 320, 2.0, 0.0) + NOISE, True),
        (spiked(300), True),
        (np.append(NOISE, np.nan), True),
        (np.ones(3), False),
        (np.array([1.0, np.inf]), True),
    ],
    ids=["noise", "fall", "rise", "jump", "spike", "nan", "short", "short inf"],
)
def test_what_the_quick_look_marks(values, found):
    assert suspicious(values) is found


def test_the_sign_turns_the_direction():
    assert suspicious(NOISE - np.linspace(0, 5, 640), -1)
