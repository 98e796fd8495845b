"""Lines as SVG paths, and the script's data."""

import json

import numpy as np
import pytest

from loganalyst.report.diagnosis import html
from loganalyst.report.diagnosis.html.axis import Axis
from loganalyst.report.diagnosis.html.draw import path
from tests.report.pages import parsed


def test_a_line_is_broken_where_a_value_is_missing():
    """Moves and lines in the units of the box, or a dot for each point."""
    x, y = Axis(0, 4), Axis(0, 1)
    steps, values = np.arange(5.0), np.array([0, 0.5, np.nan, np.inf, 1])

    assert path(x, y, steps, values) == "M0.0 100.0L250.0 50.0M1000.0 0.0"
    assert path(x, y, steps, values, dots=True) == "M0.0 100.0h0M250.0 50.0h0M1000.0 0.0h0"


def test_the_data_of_the_script_is_that_of_the_run(failed):
    """Steps as differences, values to five digits, NaN as text."""
    page = parsed(html.render(failed))
    packed = json.loads(next(body for kind, body in page.scripts if kind))
    line = packed["p0"]["lines"][0]
    loss = failed.curves[0]

    assert np.cumsum(line["x"]).tolist() == loss.steps.tolist()
    assert line["y"][-1] == "NaN"
    assert line["y"][:-1] == pytest.approx(loss.values[:-1], rel=1e-4)
    assert packed["p0"]["x"] == [10.0, 24650.0]
