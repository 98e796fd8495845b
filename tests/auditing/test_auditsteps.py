"""The steps of an audit count what they did."""

from pathlib import Path

import pytest

from loganalyst.auditing.auditsteps import AuditSteps
from loganalyst.limits import Limits
from loganalyst.store import Below, Outcome, Store

pytestmark = pytest.mark.usefixtures("workers_here")
LINES = "".join(f"step {i} loss {2 - i / 100:.3f}\n" for i in range(100))


def test_read_and_judge_count_their_outcomes(tmp_path: Path) -> None:
    """What is judged once is not judged again."""
    (tmp_path / "train.log").write_text(LINES)
    watched: list[tuple[str, int | None]] = []

    def watch(outcome: Outcome, total: int | None) -> None:
        watched.append((outcome.what, total))

    below = Below([tmp_path / "train.log"])
    steps = AuditSteps(Store(tmp_path / "store"), 1, Limits(), watch=watch)
    failures = steps.read(below, full=False, trust_run_settings=False)
    steps.judge(set(failures))
    steps.judge(set(failures))

    assert list(failures.values()) == [None]
    assert steps.counts == {"read": 1, "judged": 1}
    assert watched == [("read", None), ("judged", 1)]
    assert steps.faults == []
