"""Marks of findings as SVG."""

import numpy as np

from loganalyst.model import table
from loganalyst.report.diagnosis.html.axis import Axis
from loganalyst.report.diagnosis.html.curves import Panel
from loganalyst.report.diagnosis.html.marks import MAX_MARKS, marks
from loganalyst.report.diagnosis.html.plotlayout import plot
from tests.report.conftest import LOSS, curve

X = Axis(0.0, 99.0)


def drawn(values, kinds=(), steps=(), ends=(), onset=None, shared=True):
    found = table("findings", {"metric": "a", "kind": list(kinds), "step": list(steps), "end_step": list(ends)})
    panel = plot(Panel("Loss", (curve("a", LOSS, range(100), values),), shared), X, 5000)
    return [str(mark) for mark in marks(panel, found, onset)]


def test_each_kind_has_its_sign():
    """A ring at the peak of a spike, a band over a plateau, a line at a new level."""
    values = np.ones(100)
    values[11] = 5.0
    spike, band, line = drawn(values, ["spike", "plateau", "level_up"], [10, 33, 66], [12, 66, None])

    assert 'class="at m-spike" data-at="11" data-y="5"><circle' in spike
    assert '<rect x="33.333%" width="33.333%"' in band
    assert 'data-from="33" data-to="66"' in band
    assert line.startswith('<svg x="66.667%" class="at m-level_up" data-at="66"><path')


def test_an_onset_is_marked_on_the_axis_of_the_run_only():
    """A panel with its own step axis counts other steps."""
    assert ['m-onset" data-at="50"' in mark for mark in drawn(np.ones(100), onset=50)] == [True]
    assert drawn(np.ones(100), onset=50, shared=False) == []


def test_many_missing_values_have_few_marks():
    """The first and the last of them are marked."""
    found = drawn(np.full(100, np.nan))

    assert len(found) == MAX_MARKS
    assert ('data-at="0"' in found[0], 'data-at="99"' in found[-1]) == (True, True)
