"""What trainers print: `trainer_logs/*.yaml` has lines in the exact form of a trainer, with numbers of our own.

Each states the `source` of the form, the `points` that come out by metric and step, and the `status` of the run. The
lines alone must show which trainer it is.
"""

from pathlib import Path
from typing import Any

import pytest
import yaml

import loganalyst as la
from loganalyst.curves.trainers import recognised

LOGS = sorted((Path(__file__).parent / "trainer_logs").glob("*.yaml"))


@pytest.mark.parametrize("file", LOGS, ids=lambda file: file.stem)
def test_a_trainers_log(file: Path, tmp_path: Path) -> None:
    case: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    text = case["log"] if isinstance(case["log"], str) else "".join(f"{line}\n" for line in case["log"])
    (tmp_path / "train.log").write_text(text, encoding="utf-8", newline="")

    run = la.read_run(tmp_path / "train.log")
    read: dict[str, dict[int, float]] = {}
    for metric, step, value in run.points.select("metric", "step", "value").iter_rows():
        assert step not in read.setdefault(metric, {})
        read[metric][step] = value
    found = recognised(run)

    assert read == case["points"]
    assert run.status == case["status"]
    assert found is not None
    assert found.id == file.stem


def test_most_trainers_have_a_log() -> None:
    assert len(LOGS) >= 55
