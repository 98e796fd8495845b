"""The runs below some paths: each once, with those that cannot be read."""

from pathlib import Path

import pytest

from loganalyst.errors import LogAnalystError
from loganalyst.store.changedruns import Below, Damage
from loganalyst.store.ledger import seal


def make_runs(root: Path) -> Path:
    for name in ("a", "b"):
        (root / name).mkdir(parents=True)
        (root / name / "metrics.csv").write_text("step,loss\n0,1\n")
    return root


def test_a_run_below_two_paths_is_met_once(tmp_path: Path) -> None:
    runs = make_runs(tmp_path / "runs")
    below = Below([runs, runs / "a", tmp_path / "missing"])

    assert sorted(Path(run.root).name for run in below.met.values()) == ["a", "b"]
    assert [(found.path, "no such file" in (found.why or "")) for found in below.failed] == [
        (str(tmp_path / "missing"), True)
    ]


def test_targets_in_a_run_are_refused(tmp_path: Path) -> None:
    below = Below([make_runs(tmp_path / "runs")])
    below.refuse([tmp_path / "runs" / "store"])  # next to the runs
    with pytest.raises(LogAnalystError, match="lies inside the run"):
        below.refuse([tmp_path / "runs" / "a" / "store"])


def test_a_changed_big_table_is_damage(tmp_path: Path) -> None:
    file = tmp_path / "points.parquet"
    file.write_bytes(b"abc")
    written = {"points": seal(file)}
    damage = Damage(set(), lambda name, run: file, [])
    assert not damage.done_to("3f9a1c02b7de", "/runs/a", written)
    file.write_bytes(b"ab")

    assert damage.done_to("3f9a1c02b7de", "/runs/a", written)
    assert damage.faults == [f"{file}: has 2 bytes, not 3: /runs/a is read again"]
