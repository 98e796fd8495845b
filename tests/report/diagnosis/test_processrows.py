"""The rows that show how processes ended."""

from dataclasses import replace

from loganalyst.model import ProcessState
from loganalyst.report.common.rows import Row
from loganalyst.report.diagnosis.processrows import process_rows


def rank(number: int, end: str | None, label: str | None = None) -> ProcessState:
    return ProcessState(
        f"rank {number}",
        number,
        "n1",
        "a.log",
        1,
        9,
        None,
        None,
        80 + number,
        end,
        label,
        9,
        needed=True,  # type: ignore[arg-type]
    )


def test_processes_that_ended_alike_share_a_row(healthy) -> None:
    ends = [rank(0, "lost_peers"), rank(1, "lost_peers"), rank(2, "failed", "cuda_oom"), rank(4, "lost_peers")]

    assert process_rows(replace(healthy, processes=tuple(ends))) == (
        Row("rank 2", "failed (cuda_oom, a.log:9, on n1, last step 82)"),
        Row("ranks 0-1, 4", "waited for other ranks (on n1, last step 84)"),
    )


def test_a_child_that_was_not_needed(healthy) -> None:
    child = replace(rank(0, None), name="child", rank=None, node=None, last_step=None, needed=False)

    assert process_rows(replace(healthy, processes=(child, rank(1, "finished")))) == (
        Row("child", "end not known, and the run went on"),
        Row("rank 1", "finished (on n1, last step 81)"),
    )


def test_one_process_is_not_listed(healthy) -> None:
    assert process_rows(replace(healthy, processes=(rank(0, "failed"),))) == ()
