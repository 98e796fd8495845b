"""How each process of a run ended, and what that means for the run."""

from dataclasses import replace
from pathlib import Path

import pytest

from loganalyst import pipeline
from loganalyst.blame.processstates import ended
from loganalyst.model import ProcessState
from tests.blame.blame_cases import CHILD_DIED, TABLE_OF_RANK_1, steps, trace

LOST = "torch.distributed.DistBackendError: NCCL communicator was aborted on rank 0."
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."


def states(tmp_path: Path, **logs: str) -> tuple[str, list[tuple[str, str | None, str | None, int | None]]]:
    """The status of a run, and of each process its name, end, label and last step."""
    for name, text in logs.items():
        (tmp_path / f"{name}.log").write_text(text)
    found = pipeline.diagnose(tmp_path)
    return found.run.status, [(p.name, p.end, p.label, p.last_step) for p in found.processes]


def test_ranks_of_one_log(tmp_path: Path) -> None:
    text = steps(1, 40, "[rank0]: ") + trace(OOM, "[rank1]: ") + trace(LOST, "[rank0]: ") + TABLE_OF_RANK_1

    status, found = states(tmp_path, job=text)

    assert status == "failed"
    assert [(name, end, label) for name, end, label, _ in found] == [
        ("rank 0", "lost_peers", "nccl_error"),
        ("rank 1", "failed", "cuda_oom"),
    ]


def test_an_exit_behind_a_complaint_is_no_failure_of_its_own(tmp_path: Path) -> None:
    """Srun reports the exit of each task; a rank that lost its peers ended by them."""
    exits = "".join(f"srun: error: n{rank}: task {rank}: Exited with exit code 1\n" for rank in (0, 1))
    _, found = states(tmp_path, job=steps(1, 40, "0: ") + trace(OOM, "1: ") + trace(LOST, "0: ") + exits)

    assert [(name, end) for name, end, *_ in found] == [("rank 0", "lost_peers"), ("rank 1", "failed")]


def test_a_child_that_the_program_outlived_was_not_needed(tmp_path: Path) -> None:
    (tmp_path / "job.log").write_text(steps(1, 40) + CHILD_DIED + "Training finished\n")
    found = pipeline.diagnose(tmp_path)

    assert found.run.status == "finished"
    assert [(p.name, p.end, p.needed) for p in found.processes] == [
        ("child", None, False),
        ("program", "finished", True),
    ]


@pytest.mark.parametrize(("last", "status", "end"), [(40, "failed", "silent"), (98, "finished", None)])
def test_a_rank_that_stopped_without_a_word(tmp_path: Path, last: int, status: str, end: str | None) -> None:
    """The others finished, far behind its last step. Two intervals less may be a matter of buffers."""
    done = steps(1, 100) + "Training finished\n"
    logs = {f"rank_{rank}": done if rank != 2 else steps(1, last) for rank in range(4)}

    stated, found = states(tmp_path, **logs)

    assert stated == status
    assert [row for row in found if row[1] != "finished"] == [("log rank_2.log", end, None, last)]


@pytest.mark.parametrize(
    ("end", "needed", "status"),
    [("failed", True, "failed"), ("failed", False, "finished"), ("lost_peers", True, "finished")],
)
def test_a_run_failed_if_a_needed_process_ended_badly(end: str, needed: bool, status: str) -> None:
    """Ranks that miss peers at the end have only lost those that finished first."""
    state = ProcessState("rank 3", 3, None, "a.log", 5, 90, None, None, 80, end, None, 90, needed)  # type: ignore[arg-type]

    other = replace(state, name="rank 2", rank=2, end="finished", label=None)
    assert ended("finished", [other, state]) == status
    assert ended("timeout", [other, state]) == "timeout"
    assert ended("finished", [state]) == "finished"  # it went on, and reported its end
