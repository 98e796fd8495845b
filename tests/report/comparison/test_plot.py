"""The figure of a comparison."""

from dataclasses import replace

import pytest
from matplotlib.figure import Figure

from loganalyst.comparing.comparisonresult import Scaling, Sensitivity
from loganalyst.errors import LogAnalystError
from loganalyst.report.comparison import plot


def titles(panels):
    return [panel(ax := Figure().subplots()) or ax.get_title(loc="left") for panel in panels]


def test_each_setting_that_matters_has_a_panel(small):
    """A bar for every setting, an effect for those that matter, and the fitted law."""
    assert titles(plot.effects(small)) == ["What matters (grey: not shown to)", "lr"]
    assert titles(plot.laws(small)) == ["loss over tokens"]


def test_an_effect_shows_runs_and_band(small):
    """The axis is logarithmic like the setting; compared runs are dots."""
    ax = Figure().subplots()
    plot.effects(small)[1](ax)
    runs, expected = ax.get_lines()

    assert (ax.get_xscale(), ax.get_ylabel()) == ("log", "val")
    assert runs.get_xydata().tolist() == [[0.001, 3.0], [0.01, 2.0]]
    assert expected.get_ydata().tolist() == [3.0, 2.0]


def test_nothing_to_draw_is_an_error(small, tmp_path):
    """The message says what is needed."""
    empty = replace(small, sensitivity=Sensitivity(0), scaling=Scaling())
    with pytest.raises(LogAnalystError, match="there is nothing to draw; runs that differ"):
        plot.save(empty, tmp_path / "a.png")
