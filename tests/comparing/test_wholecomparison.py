"""Unrelated groups are appended to the comparison of the largest group."""

from dataclasses import replace
from pathlib import Path

import polars as pl

from loganalyst.comparing.comparisonresult import Objective, Unrelated
from loganalyst.comparing.runsets import COMMON
from loganalyst.comparing.wholecomparison import _folder, _joined, compare
from tests.comparing.test_comparisonresult import EMPTY


def rows(run: str, objective: float) -> pl.DataFrame:
    """A table of one run."""
    return pl.DataFrame(
        {**dict.fromkeys(COMMON, ""), "run_id": run, "objective": objective, "group": "g1"}
    ).with_columns(left_out=pl.lit(None, pl.String))


def test_unrelated_runs_come_last_and_are_left_out() -> None:
    """Without their objective, which has another meaning."""
    objective = Objective("val/loss", "val_loss", "up", "best", "", 1, {"unstable": 2})
    group = Unrelated("/b", ("b0",), (0, 3), (0, 2), (), None)
    found = _joined(replace(EMPTY, runs=rows("a0", 0.5), objective=objective), [(rows("b0", 0.1), group)])

    assert found.runs.select("run_id", "objective", "left_out", "group").rows() == [
        ("a0", 0.5, None, "g1"),
        ("b0", None, "unrelated", None),
    ]
    assert found.objective is not None
    assert found.objective.left_out == {"unstable": 2, "unrelated": 1}
    assert found.unrelated == (group,)


def test_the_folder_of_a_group_is_the_deepest_common_one() -> None:
    assert _folder(pl.Series(["/x/a/r0", "/x/a/b/r1"])) == "/x/a"
    assert _folder(pl.Series(["/x/a/r0"])) == "/x/a/r0"


def test_settings_of_the_user_and_those_of_a_run_are_named(tmp_path: Path) -> None:
    """As in an audit: each file once, with the number of runs that it concerns."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "metrics.csv").write_text("step,loss\n" + "".join(f"{i},{2 - i / 50}\n" for i in range(40)))
    (tmp_path / "loganalyst.yaml").write_text("roles: {loss: train_loss}\n")
    (tmp_path / "b" / "loganalyst.yaml").write_text("roles: {loss: val_loss}\n")

    found = compare([tmp_path], jobs=1)

    assert list(found.settings_obeyed.items()) == [(f"{tmp_path / 'loganalyst.yaml'}: 1 role", 2)]
    assert list(found.settings_ignored.items()) == [(str(tmp_path / "b" / "loganalyst.yaml"), 1)]
