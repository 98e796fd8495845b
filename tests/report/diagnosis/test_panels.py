"""One panel of a figure: its scale, its marks and its line."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from loganalyst.model import Curve, Role, table
from loganalyst.report.diagnosis import panels

LOSS = Role("train_loss", "", "up", judged=True)
RATE = Role("learning_rate", "", None, judged=True)
SCORE = Role("val_accuracy", "", "down", judged=True)


def curve(metric: str, role: Role, values: Sequence[float], every: int = 1) -> Curve:
    n = len(values)
    return Curve(
        metric, role, np.arange(n) * every, np.asarray(values, float), np.full(n, np.nan), np.full(n, np.nan),
        np.zeros(n, np.int32), np.full(n, -1),
    )  # fmt: skip


def drawn(curve: Curve, findings: pl.DataFrame | None = None, onset: int | None = None) -> list[str]:
    """The signs in a panel: ids of its artists."""
    ax = Figure().subplots()
    panels.draw(ax, curve, table("findings") if findings is None else findings, onset, width=40)
    return sorted(str(a.get_gid()) for a in ax.get_children() if a.get_gid())


def scale(role: Role, values: Sequence[float]) -> str:
    ax = Figure().subplots()
    panels.draw(ax, curve("m", role, values), table("findings"), None, width=40)
    return ax.get_yscale()


def test_missing_values_are_marked():
    """NaN has its own sign. A curve of NaN alone has no numbers at its axis."""
    assert drawn(curve("loss", LOSS, [1.0, np.nan, 1.0])) == ["mark-nonfinite"]
    ax = Figure().subplots()
    panels.draw(ax, curve("loss", LOSS, [np.nan] * 5), table("findings"), None, width=40)

    assert list(ax.get_yticks()) == []


def test_findings_and_the_onset_are_marked():
    """Each kind has its mark. Findings on a learning rate are not drawn."""
    kinds = ["divergence", "spike", "plateau", "variance"]
    found = table(
        "findings", {"metric": "m", "kind": kinds, "step": [5, 10, 20, 30], "end_step": [None, 11, None, None]}
    )
    values = np.linspace(2, 1, 60).tolist()

    assert drawn(curve("m", LOSS, values), found, 5) == [
        "mark-divergence", "mark-onset", "mark-plateau", "mark-spike",
    ]  # fmt: skip
    assert drawn(curve("m", RATE, values), found) == []


def test_scales():
    """Logarithmic where a loss spans decades; not for scores, for zeros, or for an ordinary schedule."""
    assert scale(LOSS, [100.0, 10.0, 1.0]) == "log"
    assert scale(LOSS, [2.0, 1.5, 1.0]) == "linear"
    assert scale(LOSS, [100.0, 10.0, 0.0]) == "linear"
    assert scale(SCORE, [0.001, 0.1, 0.5]) == "linear"
    assert scale(RATE, [1e-3, 1e-4, 1e-6]) == "linear"


def test_few_extremes_do_not_flatten_the_rest():
    """They lie outside the axis, and the panel counts them."""
    values = np.sin(np.arange(2000.0))
    values[700] = 1e6
    ax = Figure().subplots()
    panels.draw(ax, curve("m", LOSS, values.tolist()), table("findings"), None, width=40)

    assert ax.get_ylim()[1] < 2
    assert ax.get_title(loc="right") == "1 outside, to 1e+06"


def test_no_line_is_drawn_across_a_pause():
    """Two stretches far apart are two lines."""
    c = curve("m", LOSS, np.linspace(2, 1, 100).tolist())
    ax = Figure().subplots()
    panels.draw(
        ax, replace(c, steps=np.where(c.steps < 50, c.steps, c.steps + 1000)), table("findings"), None, width=40
    )

    assert [(line.get_xdata()[0], line.get_xdata()[-1]) for line in ax.get_lines()] == [(0, 49), (1050, 1099)]


def test_the_legend_shows_the_marks_of_the_figure():
    """A sign for each kind that is drawn, in the given order."""
    figure = Figure()
    found = table("findings", {"metric": "m", "kind": ["plateau"], "step": [20], "end_step": [30]})
    panels.draw(figure.subplots(), curve("m", LOSS, np.linspace(2, 1, 60).tolist()), found, 5, width=40)
    signs = panels.legend(figure, ["spike", "plateau", "onset"])

    assert [sign.get_label() for sign in signs] == ["plateau", "where the trouble began"]
