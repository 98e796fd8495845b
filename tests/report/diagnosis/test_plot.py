"""The figure of a run: the curves it shows, and the one file it writes."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

from loganalyst.errors import LogAnalystError, SourceError
from loganalyst.model import Curve, Diagnosis, Role, Run
from loganalyst.report.diagnosis import plot

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
    """Neither the settings of matplotlib nor its backend change."""
    before = dict(mpl.rcParams)
    plot.save(failed, tmp_path / "p.png")

    assert [p.name for p in tmp_path.iterdir()] == ["p.png"]
    assert dict(mpl.rcParams) == before


def test_a_run_is_never_written_to(tmp_path):
    """A file inside the run's folder is refused, also by an indirect path."""
    (tmp_path / "run" / "sub").mkdir(parents=True)
    d = diagnosis(tmp_path, curve("loss", LOSS, [3.0, 2.0, 1.0]))
    for inside in (tmp_path / "run" / "p.png", tmp_path / "run" / "sub" / ".." / "p.svg"):
        with pytest.raises(LogAnalystError, match="lies inside the run"):
            plot.save(d, inside)

    assert [p.name for p in (tmp_path / "run").iterdir()] == ["sub"]


def test_named_metrics_alone_are_drawn(failed, tmp_path):
    """Metrics are drawn in the given order. An unknown name suggests the nearest one."""
    plot.save(failed, tmp_path / "p.svg", ["grad_norm"])
    with mpl.rc_context({"svg.fonttype": "none"}):
        plot.save(failed, tmp_path / "text.svg", ["grad_norm"])
    text = (tmp_path / "text.svg").read_text(encoding="utf-8")

    assert ">grad_norm</text>" in text
    assert ">train/loss</text>" not in text
    with pytest.raises(SourceError, match="no metric 'grad_nor'; did you mean 'grad_norm'"):
        plot.save(failed, tmp_path / "q.svg", ["grad_nor"])


def test_the_rate_comes_last(tmp_path):
    """Of many metrics twelve are chosen, the rate last. Constant curves appear only on request."""
    many = [curve(f"loss_{i}", LOSS, [3.0, 2.0, 1.0]) for i in range(20)]
    d = diagnosis(tmp_path, curve("lr", RATE, [1.0, 0.5, 0.1]), curve("zero", TERM, [0.0] * 9), *many)
    names = [c.metric for c in plot.chosen(d)]

    assert len(names) == plot.MAX_PANELS
    assert names[-1] == "lr"
    assert "zero" not in names


def test_metrics_that_count_epochs_have_their_own_axis(tmp_path):
    """Batches and epochs are not drawn over one axis."""
    steps, epochs = curve("loss", LOSS, np.linspace(2, 1, 500).tolist()), curve("acc", SCORE, [0.1, 0.2, 0.3, 0.4])
    with mpl.rc_context({"svg.fonttype": "none"}):
        plot.save(diagnosis(tmp_path, steps, epochs), tmp_path / "p.svg")

    assert ">step (as this metric counts)</text>" in (tmp_path / "p.svg").read_text(encoding="utf-8")
