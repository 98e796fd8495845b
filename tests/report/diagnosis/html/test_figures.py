"""Plots with their descriptions."""

from dataclasses import replace

import numpy as np

from loganalyst.report.diagnosis import html
from loganalyst.report.diagnosis.document import document
from loganalyst.report.diagnosis.html import figures
from tests.report.conftest import GRAD, LOSS, VAL, curve
from tests.report.pages import parsed


def test_every_plot_is_described(failed):
    """Each plot has a description for screen readers and takes the keyboard focus."""
    page = parsed(html.render(failed))
    plots = [attributes for tag, attributes in page.tags if tag == "svg" and "plot" in (attributes.get("class") or "")]

    assert [p["aria-label"].split(".")[0] for p in plots] == [
        "Loss", "Learning rate", "Gradient norm", "3 events at their steps, numbered as in the list below"
    ]  # fmt: skip
    assert {p["role"] for p in plots} == {"img"}
    assert (
        "train/loss: 2.32 → 0.389 → 5.05 → NaN over steps 10 to 24,650; NaN or infinite at step 24,650"
        in (plots[0]["aria-label"])
    )
    stages = [attributes for _, attributes in page.tags if attributes.get("class") == "stage"]
    assert [s["tabindex"] for s in stages] == ["0"] * 4


def test_strange_curves_are_drawn(failed):
    """Only NaN, a single point, the largest numbers, nothing at all."""
    odd = [
        curve("nan", LOSS, range(9), np.full(9, np.nan)),
        curve("one", GRAD, [5], [1.0]),
        curve("huge", VAL, range(9), [-1.7e308, 1.7e308] * 4 + [0]),
    ]
    for curves in (odd, odd[:1], odd[1:2], odd[2:], []):
        assert parsed(html.render(replace(failed, curves=curves))).faults == []


def test_a_long_run_fits(failed):
    """60,000 points in six curves make a page under 1.5 MB."""
    rng = np.random.default_rng(1)
    curves = [
        curve(f"m{i}", role, range(10_000), rng.normal(1, 0.1, 10_000)) for i, role in enumerate([LOSS, GRAD] * 3)
    ]
    text = html.render(replace(failed, curves=curves))

    assert len(text.encode()) < 1_500_000


def test_without_curves_there_are_no_figures(unreadable):
    """Neither pictures nor data."""
    assert figures.figures(unreadable, document(unreadable)) == ([], {})
