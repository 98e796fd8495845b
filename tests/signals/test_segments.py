"""Exact segmentation of a short series."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from loganalyst.signals.segments import segments, slows_down

N = 240
T = np.arange(N)
NOISE = np.random.default_rng(11).standard_normal(N)


def test_a_learning_curve_is_no_line():
    """A curve that falls fast and slows down is a learning curve; a line, a rise and a constant are not."""
    curve = np.exp(-T / 30) + 0.02 * NOISE

    assert slows_down(curve)
    assert not slows_down(-curve)
    assert not slows_down(-0.01 * T + 0.1 * NOISE)
    assert not slows_down(np.ones(N))


@given(arrays.arrays(np.float64, st.integers(20, 80), elements=st.integers(-50, 50).map(float)), st.integers(-200, 200))
@settings(max_examples=40, deadline=None)
def test_scale_does_not_matter(values, power):
    """a·x has the same segmentation, whatever the series; cuts lie inside it in order."""
    cuts = [c.index for c in segments(values)]

    assert cuts == [c.index for c in segments(np.ldexp(values, power))]
    assert cuts == sorted(set(cuts))
    assert all(0 < c < values.size for c in cuts)
