"""How the start of a program ended."""

from pathlib import Path

import numpy as np
import pytest

from loganalyst.model import Tables
from loganalyst.sources.text import reader
from loganalyst.sources.text.sessionends import Fault, Session

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."


def read(path: Path, text: str) -> Tables:
    path.write_text(text)
    return Tables.concat(reader.read(path))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "slurm-4711.out"


@pytest.mark.parametrize(
    ("tail", "status"),
    [
        ("`Trainer.fit` stopped: `max_epochs=3` reached.", "finished"),
        (OOM, "failed"),
        ("slurmstepd: error: *** JOB 4711 ON n1 CANCELLED AT 2024-01-01T00:00:00 DUE TO TIME LIMIT ***", "timeout"),
        ("slurmstepd: error: *** JOB 4711 ON n1 CANCELLED AT 2024-01-01T00:00:00 DUE TO PREEMPTION ***", "preempted"),
        ("slurmstepd: error: *** JOB 4711 ON n1 CANCELLED AT 2024-01-01T00:00:00 ***", "cancelled"),
        ("srun: error: Node failure on n2", "node_fail"),
        ("slurmstepd: error: Detected 1 oom_kill event in StepId=4711.0. Some", "killed"),
        ("step 4 loss 0.2", "unknown"),
    ],
)
def test_status(log: Path, tail: str, status: str) -> None:
    """The status of a session follows from its last fault or end mark."""
    assert [status] == read(log, f"step 1 loss 0.5\nstep 2 loss 0.4\n{tail}\n").sessions["status"].to_list()


TRACE = 'Traceback (most recent call last):\n  File "train.py", line 4, in {}\n    main()\nKeyError: 1\n'
UNCAUGHT, HANDLED = TRACE.format("<module>"), TRACE.format("step")
STEPS = "step 1 loss 0.5\nstep 2 loss 0.4\nstep 3 loss 0.3\n"


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (UNCAUGHT + STEPS, "failed"),
        (UNCAUGHT + STEPS + "Training finished\n", "finished"),
        (UNCAUGHT + "done\n", "failed"),
        (STEPS + UNCAUGHT + "done\n", "failed"),
        (STEPS + UNCAUGHT + "step 4 loss 0.2\nstep 5 loss 0.1\nstep 6 loss 0.1\n", "failed"),
        (STEPS + UNCAUGHT + "".join(f"step {n} loss 0.2\n" for n in range(4, 170)), "unknown"),
        (STEPS + UNCAUGHT + "step 4 loss 0.2\nstep 5 loss 0.1\nTraining finished\n", "finished"),
        (STEPS + "Training finished\n" + UNCAUGHT, "failed"),
        (STEPS + HANDLED, "failed"),
        (STEPS + HANDLED + "done\n", "finished"),
        (STEPS + 3 * ("item skipped\n" + HANDLED), "unknown"),
        (STEPS + 2 * ("item skipped\n" + HANDLED), "failed"),
        (STEPS + 3 * HANDLED + "srun: error: n1: task 3: Exited with exit code 1\n", "failed"),
        (STEPS + "Exception ignored in: <function A.__del__ at 0x7f>\n" + HANDLED, "unknown"),
    ],
)
def test_the_form_of_a_traceback_decides(log: Path, text: str, status: str) -> None:
    """An uncaught exception is fatal, even before buffered metrics; one that the program printed itself may be not."""
    assert [status] == read(log, text).sessions["status"].to_list()


def test_training_that_counts_from_its_first_step_again_is_a_new_start(log: Path) -> None:
    """The exception ended the start before; what follows it did not wait in a buffer."""
    assert read(log, STEPS + UNCAUGHT + STEPS).sessions.select("first_line", "status").rows() == [
        (1, "failed"),
        (8, "unknown"),
    ]


def test_peers_missed_when_the_work_is_done_have_left(log: Path) -> None:
    """After the end mark, the watchdog only misses ranks that finished first."""
    missed = "ProcessGroupNCCL's watchdog got stuck for 480 seconds without making progress\n"
    trained, done = "step 1 loss 0.5\nstep 2 loss 0.4\n", "`Trainer.fit` stopped: `max_epochs=3` reached.\n"

    assert read(log, trained + done + missed).sessions["status"].to_list() == ["finished"]
    assert read(log.with_name("cut.log"), trained + missed).sessions["status"].to_list() == ["failed"]


@pytest.mark.parametrize(
    ("faults", "ended_well", "status"),
    [
        ({}, True, "finished"),
        ({}, False, "unknown"),
        ({"root": (5, "cuda_oom", "cuda-oom")}, True, "failed"),
        ({"stop": (5, "slurm_timeout", "x"), "root": (3, "cuda_oom", "y")}, False, "timeout"),
        ({"peer": (5, "nccl_timeout", "x")}, True, "finished"),
        ({"peer": (5, "nccl_timeout", "x")}, False, "failed"),
        ({"cascade": (5, None, "x")}, False, "killed"),
        ({"confirm": (5, "other", "x"), "stop": (7, "slurm_cancelled", "y")}, False, "failed"),
    ],
)
def test_status_of_a_session(faults: dict[str, Fault], ended_well: bool, status: str) -> None:
    """A cancel behind a failed exit only ends the remaining tasks."""
    assert Session(1, faults=faults, ended_well=ended_well).status(last_line=9) == status


def test_a_fault_with_two_later_metrics_was_survived() -> None:
    session = Session(1, faults={"root": (5, "cuda_oom", "x"), "stop": (5, "slurm_timeout", "y")})
    session.add_progress(np.array([6]))
    assert set(session.faults) == {"root", "stop"}
    session.add_progress(np.array([8]))
    assert set(session.faults) == {"stop"}


RECORD = "2026-01-02 10:00:00,000 ERROR trainer: stopped\n"
CHILD = (
    "Process Uploader-2:\nTraceback (most recent call last):\n"
    '  File "/usr/lib/python3.10/multiprocessing/process.py", line 314, in _bootstrap\n    self.run()\nKeyError: 1\n'
)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (STEPS + 4 * HANDLED, "failed"),
        (STEPS + 4 * (RECORD + HANDLED), "failed"),
        (STEPS + 4 * HANDLED + "ranks go on\n" * 4, "unknown"),
        (STEPS + 4 * ("next item\n\n" + RECORD + HANDLED), "unknown"),
        (STEPS + CHILD, "failed"),
        (STEPS + CHILD + "Training finished\n", "finished"),
        (STEPS + CHILD + "Training finished\nsrun: error: n1: task 3: Exited with exit code 1\n", "failed"),
    ],
)
def test_copies_of_an_exception_and_the_end_of_a_child(log: Path, text: str, status: str) -> None:
    """The last words of a log may be the same exception of several ranks. A child is not needed for the end mark."""
    assert [status] == read(log, text).sessions["status"].to_list()


THREAD = (
    "Exception in thread Thread-2 (_drain):\nTraceback (most recent call last):\n"
    '  File "/usr/lib/python3.10/threading.py", line 1016, in _bootstrap_inner\n    self.run()\n{}\n'
)
UNDECODABLE = THREAD.format("UnicodeDecodeError: 'utf-8' codec can't decode byte 0x9f in position 3")
THREAD_OOM = THREAD.format("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.")


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (UNDECODABLE + "".join(f"loading {i}\n" for i in range(12)), "unknown"),
        (UNDECODABLE + STEPS, "unknown"),
        (THREAD_OOM + "all work is done\nTraining finished\n", "finished"),
        (STEPS + THREAD_OOM, "failed"),
        (STEPS + THREAD_OOM + HANDLED, "failed"),
        (STEPS + THREAD_OOM + "srun: error: n1: task 3: Exited with exit code 1\n", "failed"),
    ],
)
def test_a_thread_that_ended_by_an_exception(log: Path, text: str, status: str) -> None:
    """The program goes on without it, unless the log ends soon or another fault follows."""
    assert [status] == read(log, text).sessions["status"].to_list()


REPORT = "Subject: Job 7: <train> in cluster <dcc> {}\n\n{}\n\nThe output (if any) follows:\n\n"


@pytest.mark.parametrize(
    ("word", "verdict", "output", "status"),
    [
        ("Exited", "Exited with exit code 1.", STEPS, "failed"),
        ("Exited", "TERM_RUNLIMIT: job killed after reaching LSF run time limit.", STEPS, "timeout"),
        ("Done", "Successfully completed.", STEPS + HANDLED, "finished"),
        ("Done", "Successfully completed.", STEPS, "finished"),
    ],
)
def test_a_report_before_the_output_states_the_end(log: Path, word: str, verdict: str, output: str, status: str):
    assert [status] == read(log, REPORT.format(word, verdict) + output).sessions["status"].to_list()


TRACE = 'Traceback (most recent call last):\n  File "train.py", line 40, in <module>\n    main()\n'


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("step 1 loss 0.5\n" + TRACE, "failed"),
        ("step 1 loss 0.5\n" + TRACE + "step 2 loss 0.4\nstep 3 loss 0.3\n", "unknown"),  # survived
        (TRACE + "Training complete.\n", "finished"),
        ("Exception ignored in: <f>\n" + TRACE + "OSError: closed\n", "unknown"),  # its exception is there
        (TRACE + "loading\n" * 500, "unknown"),  # no traceback is so long
    ],
)
def test_a_log_that_ends_within_a_traceback_failed(log: Path, text: str, status: str) -> None:
    assert read(log, text).sessions["status"].to_list() == [status]


@pytest.mark.parametrize(("steps", "status"), [(150, "failed"), (151, "unknown")])
def test_more_than_a_buffer_holds_is_of_a_later_start(log: Path, steps: int, status: str) -> None:
    """Metrics behind an exception that nothing caught may have waited in a buffer, but not all that many."""
    text = TRACE + "ValueError: bad\n" + "".join(f"step {i} loss 0.5\n" for i in range(steps))
    assert read(log, text).sessions["status"].to_list() == [status]
