"""Sessions of a log: where they begin, and how they end."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from loganalyst.model import Tables
from loganalyst.sources.text import reader
from loganalyst.sources.text.programstarts import Fault, Session
from loganalyst.sources.text.sizes import SIZES, Sizes

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."


def read(path: Path, data: str | bytes, sizes: Sizes = SIZES) -> Tables:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return Tables.concat(reader.read(path, sizes))


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
        (STEPS + UNCAUGHT + STEPS, "unknown"),
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


def test_peers_missed_when_the_work_is_done_have_left(log: Path) -> None:
    """After the end mark, the watchdog only misses ranks that finished first."""
    missed = "ProcessGroupNCCL's watchdog got stuck for 480 seconds without making progress\n"
    trained, done = "step 1 loss 0.5\nstep 2 loss 0.4\n", "`Trainer.fit` stopped: `max_epochs=3` reached.\n"

    assert read(log, trained + done + missed).sessions["status"].to_list() == ["finished"]
    assert read(log.with_name("cut.log"), trained + missed).sessions["status"].to_list() == ["failed"]


def started(tables: Tables) -> list[int]:
    return tables.sessions["first_line"].to_list()


def test_two_jobs_in_one_file(log: Path) -> None:
    """Another job's number begins a session behind the last mention of the job before."""
    stop = "slurmstepd: error: *** JOB {} ON n1 CANCELLED AT 2024-01-01T00:00:00 DUE TO TIME LIMIT ***\n"
    tables = read(log.with_name("job.err"), stop.format(100) + "hello\n" + stop.format(200))

    assert started(tables) == [1, 2]
    assert tables.sessions["job"].to_list() == ["100", "200"]


def test_a_restart_after_training(log: Path) -> None:
    """The second printing of the arguments begins a session only after some training."""
    banner = "Namespace(lr=0.1)\n"
    tables = read(log, banner + banner + "step 1 loss 0.5\nstep 2 loss 0.4\n" + banner + "step 1 loss 0.5\n")

    assert started(tables) == [1, 5]
    assert tables.points.filter(pl.col("metric") == "loss")["session"].to_list() == [0, 0, 1]


def test_a_bar_drawn_once_more_when_it_is_closed(log: Path) -> None:
    """A bar at the beginning of a log is no banner."""
    tables = read(log, "\r0it [00:00, ?it/s]\nValueError: boom\n" + "\n" * 60 + "\r0it [00:00, ?it/s]\nbye\n")

    assert started(tables) == [1]
    assert tables.sessions["status"].to_list() == ["failed"]


def test_a_fresh_bar_after_a_failure(log: Path) -> None:
    """A progress bar at zero begins a session only after a fault."""
    bar = "  0%|          | 0/10 [00:00<?, ?it/s]\n"
    tables = read(log, bar + "x\n" + bar + "ValueError: boom\n" + bar)

    assert started(tables) == [1, 5]


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
    assert Session(1, faults=faults, ended_well=ended_well).status() == status


def test_a_fault_with_two_later_metrics_was_survived() -> None:
    session = Session(1, faults={"root": (5, "cuda_oom", "x"), "stop": (5, "slurm_timeout", "y")})
    session.add_progress(np.array([6]))
    assert set(session.faults) == {"root", "stop"}
    session.add_progress(np.array([8]))
    assert set(session.faults) == {"stop"}


STEPS = "".join(f"step {i} loss {2 - i / 64}\n" for i in range(40))
TRACE = 'Traceback (most recent call last):\n  File "train.py", line 4, in <module>\n    main()\nKeyError: 7\n'


def lsf_mail(job: int, word: str, verdict: str, output: str, *, above: bool) -> str:
    """What LSF writes for a job: its report before the output, or behind it."""
    report = (
        f"Sender: LSF System <lsfadmin@n1>\nSubject: Job {job}: <train> in cluster <dcc> {word}\n\n{verdict}\n\n"
        "Resource usage summary:\n\n    CPU time :  100.00 sec.\n\n"
    )
    if above:
        return f"{output}\n{report}The output (if any) is above this job summary.\n\n"
    return f"{report}The output (if any) follows:\n\n{output}\n\nPS:\n\nRead file <x.err> for stderr output.\n"


@pytest.mark.parametrize(
    ("above", "starts", "first"), [(False, [1, 58, 115], "unknown"), (True, [1, 53, 105], "killed")]
)
def test_each_lsf_mail_is_a_job(log: Path, above: bool, starts: list[int], first: str) -> None:
    """A first job that was killed says nothing about the last one."""
    killed = "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.\nExited with exit code 137."
    done = "Successfully completed."
    mails = [(1001, "Exited", killed), (1002, "Done", done), (1003, "Done", done)]
    tables = read(log, "".join(lsf_mail(*mail, STEPS, above=above) for mail in mails))

    assert tables.sessions["job"].to_list() == ["1001", "1002", "1003"]
    assert tables.sessions["status"].to_list() == [first, "finished", "finished"]
    assert started(tables) == starts


def test_the_last_lsf_mail_failed(log: Path) -> None:
    mails = [
        (1002, "Done", "Successfully completed.", STEPS),
        (1003, "Exited", "Exited with exit code 1.", STEPS + TRACE),
    ]
    tables = read(log, "".join(lsf_mail(*mail, above=True) for mail in mails))

    assert tables.sessions.select("job", "status").rows() == [("1002", "finished"), ("1003", "failed")]


def test_a_job_begins_where_its_number_is_printed(log: Path) -> None:
    """The lines behind the first job's number are its own, up to the number of the next job."""
    end = "srun: error: n1: task 0: Exited with exit code 1\n"
    tables = read(log.with_name("jobs.out"), f"SLURM_JOB_ID=77\n{STEPS}{TRACE}{end}SLURM_JOB_ID=78\n{STEPS}")

    assert tables.sessions.select("first_line", "job", "status").rows() == [(1, "77", "failed"), (47, "78", "unknown")]


def test_a_requeued_job_trains_again(log: Path) -> None:
    stop = "slurmstepd: error: *** JOB 4711 ON n1 CANCELLED AT 2024-01-01T00:00:00 DUE TO JOB REQUEUE ***\n"

    assert started(read(log, STEPS + stop + "Running on n7\n" + STEPS)) == [1, 42]
    late = "".join(STEPS.splitlines(keepends=True)[:20])  # what ranks still wrote
    assert read(log, STEPS + stop + late).sessions["status"].to_list() == ["preempted"]


@pytest.mark.parametrize(
    "banner",
    [
        "Namespace(lr=0.1, batch_size=64)\n",
        "***** Running training *****\n",
        "2026-01-10 10:00:00 INFO: Using 1 GPUs\nNamespace(lr=0.1)\n",
        "  0%|          | 0/10 [00:00<?, ?it/s]\n",
    ],
)
def test_a_banner_behind_an_error_that_nothing_precedes_is_no_second_start(log: Path, banner: str) -> None:
    """An error is written at once; the banner of the same start waited in a buffer."""
    assert started(read(log, TRACE + banner + "Epoch 1/10 loss: 1.9\nEpoch 2/10 loss: 1.8\n")) == [1]


def test_a_banner_behind_the_error_of_a_visible_start_is_a_second_start(log: Path) -> None:
    banner = "Namespace(lr=0.1)\n"
    assert started(read(log, banner + TRACE + banner + STEPS)) == [1, 6]
    assert started(read(log, STEPS + TRACE + banner + STEPS)) == [1, 45]
