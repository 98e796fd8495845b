"""Real runs of other people, where they are on the machine: read, shown, and judged as a reader of the curves did."""

import csv
from functools import cache
from pathlib import Path

import pytest

import loganalyst as la
from loganalyst.model import Diagnosis
from loganalyst.report import show

CORPUS = Path(__file__).parents[1] / "../shared/corpus/runs"
ROWS = list(csv.DictReader((CORPUS / "labels.csv").open())) if CORPUS.is_dir() else []
pytestmark = pytest.mark.skipif(not ROWS, reason="the corpus of labelled real runs is not on this machine")


@cache
def judged(run: str) -> Diagnosis:
    return la.diagnose(CORPUS / run)


def test_every_run_is_read_and_shown() -> None:
    """`show` lists each metric with its role, for every run."""
    for row in ROWS:
        found = judged(row["run_path"])
        page = show.render(found)

        assert [m for m in found.metrics[:20] if m.role not in page] == [], row["run_path"]


def test_most_are_judged_right_and_healthy_ones_left_alone() -> None:
    """At least 60 % of the labels are among the first three causes, at most 15 % of healthy runs are called sick."""
    rows = [r for r in ROWS if r["label"] != "ambiguous"]
    healthy = [r for r in rows if r["label"] == "healthy"]
    alarms = [r["run_path"] for r in healthy if judged(r["run_path"]).causes]
    right = [
        r["run_path"]
        for r in rows
        if r not in healthy
        and {r["label"], *r["secondary"].split(";")} & {c.label for c in judged(r["run_path"]).causes[:3]}
    ]

    assert len(alarms) <= 0.15 * len(healthy), alarms
    assert len(right) + len(healthy) - len(alarms) >= 0.6 * len(rows)


def test_no_run_is_called_slow_or_hung() -> None:
    """Nobody who read these curves said so of any: evaluations, restarts and warm-up are no stalls."""
    asked = {"stalled", "slow-down", "gone-silent"}
    alarms = {row["run_path"]: asked & {s.id for s in judged(row["run_path"]).symptoms} for row in ROWS}

    assert {run: found for run, found in alarms.items() if found} == {}
