"""The heat map of gradients by layer."""

import json
from dataclasses import replace

import numpy as np

from loganalyst import model
from loganalyst.report.diagnosis import html
from loganalyst.report.diagnosis.html import heat
from loganalyst.report.diagnosis.html.axis import Axis
from loganalyst.report.diagnosis.html.png import BROKEN, EMPTY, SHADES
from tests.report.pages import layered, parsed


def test_layers_are_a_heat_map(failed):
    """One row for each layer in the order of their numbers. NaN is text in the data."""
    page = parsed(html.render(replace(failed, curves=layered(12, broken=11))))
    packed = json.loads(next(body for kind, body in page.scripts if kind))["layers"]
    picture = next(
        attributes
        for tag, attributes in page.tags
        if attributes.get("aria-label", "").startswith("Gradient of 12 layers")
    )

    assert packed["layers"] == [f"grad_norm/layer{i}.weight" for i in range(12)]
    assert packed["values"][1][0] == 0.1
    assert packed["values"][11][-1] == "NaN or infinite"
    assert picture["aria-label"] == (
        "Gradient of 12 layers over the steps. At the end the smallest is 1.0e-10 (grad_norm/layer10.weight), the "
        "largest 1 (grad_norm/layer0.weight). 1 became NaN or infinite."
    )


def test_histograms_replace_norms_of_layers(healthy):
    """The map shows root mean squares where no norms are logged."""
    histograms = model.table(
        "distributions",
        {"metric": ["gradients/b", "gradients/a"] * 2, "step": [0, 0, 400, 400], "mean": 3.0, "std": 4.0},
    )
    page = parsed(html.render(replace(healthy, run=replace(healthy.run, distributions=histograms))))
    packed = json.loads(next(body for kind, body in page.scripts if kind))["layers"]

    assert packed["layers"] == ["gradients/a", "gradients/b"]
    assert {v for row in packed["values"] for v in row if v is not None} == {5.0}


def test_a_map_needs_two_layers(failed):
    """One layer has no map."""
    assert "Gradient by layer" not in html.render(replace(failed, curves=layered(1)))
    assert "Gradient by layer" in html.render(replace(failed, curves=layered(2)))


def test_shades_are_logarithmic():
    """The smallest value is the darkest, 1 in the middle of 0.01 and 100; NaN is empty, Inf has its own colour."""
    values = np.array([[0.01, 1.0, 100.0], [np.nan, np.inf, 0.0]])
    h = heat.Heat(("a", "b"), ("a", "b"), values, Axis(0, 1), 0)

    assert heat.shades(h).tolist() == [[0, 126, SHADES - 1], [EMPTY, BROKEN, 0]]
    assert (h.height, h.ends) == (60, (0.01, 100.0))
