"""Calibration of probabilities."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loganalyst.diagnosis.logodds import calibrate
from loganalyst.diagnosis.rule import Calibration


@given(st.floats(0.001, 0.999))
def test_calibration_is_the_identity_until_fitted(p: float) -> None:
    """Slope 1 and offset 0 change nothing."""
    assert calibrate(p, Calibration()) == pytest.approx(p)


def test_calibration_scales_log_odds() -> None:
    """Platt scaling; probabilities of 0 and 1 stay within bounds."""
    assert calibrate(0.9, Calibration(0.5, 0.0)) == pytest.approx(0.75)
    assert calibrate(0.5, Calibration(1.0, math.log(3))) == pytest.approx(0.75)
    assert calibrate(0.99, Calibration(1.0, 0.0, reach=math.log(9))) == pytest.approx(0.9)
    assert 0 <= calibrate(0.0, Calibration(100.0, -20.0)) <= calibrate(1.0, Calibration(100.0, 20.0)) <= 1
