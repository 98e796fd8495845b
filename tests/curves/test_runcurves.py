"""The curves of a run, corrected by the user's settings."""

from pathlib import Path

import pytest

from loganalyst import read_run
from loganalyst.curves.runcurves import run_curves
from loganalyst.errors import RuleError
from loganalyst.model import Run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    rows = "".join(f"{i},{1 / (i + 1)},{i / 40},{0.5 / (i + 1)}\n" for i in range(40))
    (tmp_path / "metrics.csv").write_text("step,train_loss,my_score,phys\n" + rows)
    return read_run(tmp_path)


def test_corrections(run: Run) -> None:
    curves, metrics = run_curves(run, {"phys": "loss_component"}, {"my_*": "down"}, {"ph*": 0.5})
    by_name = {curve.metric: curve for curve in curves}

    assert {metric.name for metric in metrics} == {"train_loss", "my_score", "phys"}
    assert (by_name["phys"].role.name, by_name["phys"].weight) == ("loss_component", 0.5)
    assert (by_name["train_loss"].role.name, by_name["train_loss"].weight) == ("train_loss", 1.0)
    assert by_name["my_score"].role.worse == "down"
    assert by_name["train_loss"].values.size == 40


def test_an_unknown_role_is_an_error(run: Run) -> None:
    with pytest.raises(RuleError):
        run_curves(run, {"phys": "no_such_role"}, {}, {})
