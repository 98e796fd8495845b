"""The figure of a run: what is drawn, what is marked, and that nothing else is written."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure

from loganalyst.errors import LogAnalystError, SourceError
from loganalyst.model import Curve, Diagnosis, Role, Run, table
from loganalyst.report.diagnosis import panels, plot

LOSS = Role("train_loss", "", "up", judged=True)
RATE = Role("learning_rate", "", None, judged=True)
TERM = Role("loss_component", "", "up", judged=True)
SCORE = Role("val_accuracy", "", "down", judged=True)


def curve(metric: str, role: Role, values: Sequence[float], every: int = 1) -> Curve:
    n = len(values)
    return Curve(
        metric, role, np.arange(n) * every, np.asarray(values, float), np.full(n, np.nan), np.full(n, np.nan),
        np.zeros(n, np.int32), np.full(n, -1),
    )  # fmt: skip


def diagnosis(tmp_path: Path, *curves: Curve) -> Diagnosis:
    return Diagnosis(Run(path=tmp_path / "run", name="run"), "healthy", 0.9, curves=curves)


def drawn(curve: Curve, findings: pl.DataFrame | None = None, onset: int | None = None) -> list[str]:
    """The signs in a panel: ids of its artists."""
    ax = Figure().subplots()
    panels.draw(ax, curve, table("findings") if findings is None else findings, onset, width=40)
    return sorted(str(a.get_gid()) for a in ax.get_children() if a.get_gid())


def scale(role: Role, values: Sequence[float]) -> str:
    ax = Figure().subplots()
    panels.draw(ax, curve("m", role, values), table("findings"), None, width=40)
    return ax.get_yscale()


def test_the_same_run_gives_the_same_bytes(failed, tmp_path):
    """SVG and PNG hold no date and no random id."""
    for suffix in ("svg", "png"):
        for name in ("a", "b"):
            plot.save(failed, tmp_path / f"{name}.{suffix}")

        assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()


def test_a_diagnosis_plots_itself(failed, tmp_path):
    """The method draws what the command draws."""
    failed.plot(str(tmp_path / "a.svg"), ["grad_norm"])
    plot.save(failed, tmp_path / "b.svg", ["grad_norm"])

    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_only_the_file_asked_for_is_written(failed, tmp_path):
    """And neither settings of matplotlib nor its backend are changed for others."""
    before = dict(mpl.rcParams)
    plot.save(failed, tmp_path / "p.png")

    assert [p.name for p in tmp_path.iterdir()] == ["p.png"]
    assert dict(mpl.rcParams) == before


def test_a_run_is_never_written_to(tmp_path):
    """A file inside the run's folder, also by a way around, is refused."""
    (tmp_path / "run" / "sub").mkdir(parents=True)
    d = diagnosis(tmp_path, curve("loss", LOSS, [3.0, 2.0, 1.0]))
    for inside in (tmp_path / "run" / "p.png", tmp_path / "run" / "sub" / ".." / "p.svg"):
        with pytest.raises(LogAnalystError, match="lies inside the run"):
            plot.save(d, inside)

    assert [p.name for p in (tmp_path / "run").iterdir()] == ["sub"]


def test_named_metrics_alone_are_drawn(failed, tmp_path):
    """In the order named; an unknown name tells the nearest."""
    plot.save(failed, tmp_path / "p.svg", ["grad_norm"])
    with mpl.rc_context({"svg.fonttype": "none"}):
        plot.save(failed, tmp_path / "text.svg", ["grad_norm"])
    text = (tmp_path / "text.svg").read_text(encoding="utf-8")

    assert ">grad_norm</text>" in text
    assert ">train/loss</text>" not in text
    with pytest.raises(SourceError, match="no metric 'grad_nor'; did you mean 'grad_norm'"):
        plot.save(failed, tmp_path / "q.svg", ["grad_nor"])


def test_the_rate_stands_under_the_others(tmp_path):
    """Of many metrics twelve are chosen, the rate last; constant curves and single points only where asked for."""
    many = [curve(f"loss_{i}", LOSS, [3.0, 2.0, 1.0]) for i in range(20)]
    d = diagnosis(tmp_path, curve("lr", RATE, [1.0, 0.5, 0.1]), curve("zero", TERM, [0.0] * 9), *many)
    names = [c.metric for c in plot.chosen(d)]

    assert len(names) == plot.MOST
    assert names[-1] == "lr"
    assert "zero" not in names


def test_missing_values_are_marked(tmp_path):
    """NaN has a sign of its own; a curve of nothing else has no numbers at its axis."""
    assert drawn(curve("loss", LOSS, [1.0, np.nan, 1.0])) == ["mark-nonfinite"]
    ax = Figure().subplots()
    panels.draw(ax, curve("loss", LOSS, [np.nan] * 5), table("findings"), None, width=40)

    assert list(ax.get_yticks()) == []


def test_findings_and_the_onset_are_marked():
    """Each kind once in its own way; those on a schedule of the rate are not drawn."""
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
    """They lie outside of the axis, and the panel says so."""
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


def test_metrics_that_count_epochs_have_an_axis_of_their_own(tmp_path):
    """Batches and epochs are not drawn over one axis."""
    steps, epochs = curve("loss", LOSS, np.linspace(2, 1, 500).tolist()), curve("acc", SCORE, [0.1, 0.2, 0.3, 0.4])
    with mpl.rc_context({"svg.fonttype": "none"}):
        plot.save(diagnosis(tmp_path, steps, epochs), tmp_path / "p.svg")

    assert ">step (as this metric counts)</text>" in (tmp_path / "p.svg").read_text(encoding="utf-8")


def test_steps_are_short():
    """Thousands and millions have a letter."""
    short = panels.steps_short()

    assert [short(v) for v in (0, 500, 2500, 1_250_000)] == ["0", "500", "2.5k", "1.25M"]
