"""NaN and infinite values."""

import numpy as np

from loganalyst.signals import change_points
from loganalyst.signals.nonfinite import nonfinite
from tests.signals.noisycurve import CURVE


def test_nonfinite_run_counts_all():
    """The first run of NaN or Inf is reported with its end; effect counts all such points."""
    values = CURVE.copy()
    values[[100, 101, 900]] = [np.nan, np.inf, -np.inf]

    assert [(c.index, c.end, c.kind, c.effect) for c in change_points(values)] == [(100, 101, "nonfinite", 3.0)]


def test_the_first_run_has_an_end_and_the_effect_counts_all():
    (found,) = nonfinite(np.array([1.0, np.nan, np.inf, 2.0, np.nan]))
    (last,) = nonfinite(np.array([1.0, np.nan]))

    assert (found.index, found.end, found.effect) == (1, 2, 3.0)
    assert (last.index, last.end) == (1, None)
    assert nonfinite(np.array([1.0])) == []
