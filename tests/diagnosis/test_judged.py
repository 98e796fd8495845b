"""The verdict of a probability."""

import pytest

from loganalyst.diagnosis.judged import threshold


@pytest.mark.parametrize(
    ("p", "expected"), [(0.5, "likely"), (0.4999, "possible"), (0.2, "possible"), (0.1999, "unlikely")]
)
def test_thresholds(p: float, expected: str) -> None:
    """Likely from 0.5, possible from 0.2."""
    assert threshold(p) == expected
