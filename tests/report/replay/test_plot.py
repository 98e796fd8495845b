"""The figure of a replay."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from loganalyst.errors import LogAnalystError
from loganalyst.report.replay import plot


def test_a_figure_marks_losses_that_are_not_finite(found, tmp_path):
    """A cross at the upper edge; without experiments there is nothing to draw."""
    ax = Figure().subplots()
    plot._draw(ax, found.experiments[0], 657)
    first, cross, second, onset = ax.get_lines()

    assert (first.get_label(), second.get_label()) == ("as it was", "lr / 2")
    assert cross.get_xydata().tolist() == [[657.0, plot.CLIP_FACTOR]]
    assert np.asarray(onset.get_xdata()).tolist() == [657, 657]
    with pytest.raises(LogAnalystError, match="no experiment to draw"):
        plot.save(replace(found, experiments=()), tmp_path / "a.png")
