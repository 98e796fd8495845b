"""Sessions of a log: where they begin, and how they end."""

from pathlib import Path

import polars as pl
import pytest

from loganalyst.model import Tables
from loganalyst.sources.text import reader
from loganalyst.sources.text.sizes import SIZES, Sizes

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."


def read(path: Path, data: str | bytes, sizes: Sizes = SIZES) -> Tables:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return Tables.concat(reader.read(path, sizes))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "slurm-4711.out"


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


STEPS = "".join(f"step {i} loss {2 - i / 64}\n" for i in range(40))
MORE = "".join(f"step {i} loss {2 - i / 64}\n" for i in range(40, 80))
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


@pytest.mark.parametrize(("above", "starts"), [(False, [1, 58, 115]), (True, [1, 53, 105])])
def test_each_lsf_mail_is_a_job(log: Path, above: bool, starts: list[int]) -> None:
    """A first job that was killed says nothing about the last one."""
    killed = "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.\nExited with exit code 137."
    done = "Successfully completed."
    mails = [(1001, "Exited", killed), (1002, "Done", done), (1003, "Done", done)]
    tables = read(log, "".join(lsf_mail(*mail, STEPS, above=above) for mail in mails))

    assert tables.sessions["job"].to_list() == ["1001", "1002", "1003"]
    assert tables.sessions["status"].to_list() == ["killed", "finished", "finished"]
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
    late = "".join(f"step {n} loss 0.5\n" for n in range(40, 60))  # what ranks still wrote
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


SET_UP = "Loading config base.yaml\nUsing device cuda:0\nDataset: 81234 samples\n"


@pytest.mark.parametrize("before", ["", "node gpu07 at 10:00:01\nmodules: cuda/12.1\n"])
def test_set_up_lines_that_come_again_behind_a_failure_are_a_start(log: Path, before: str) -> None:
    """A shell loop starts the program again without a word."""
    tables = read(log, before + 2 * (SET_UP + STEPS + TRACE))

    assert started(tables) == [1, before.count("\n") + 48]
    assert tables.sessions["status"].to_list() == ["failed", "failed"]


def test_set_up_lines_behind_training_are_no_start(log: Path) -> None:
    """The program went on behind the failure, and then printed them for its evaluation."""
    assert started(read(log, "node gpu07\n" + SET_UP + STEPS + TRACE + MORE + SET_UP + MORE)) == [1]


def missing(module: str, line: int, script: str = "train.py") -> str:
    """The traceback of an import at the top of a script."""
    return (
        f'Traceback (most recent call last):\n  File "{script}", line {line}, in <module>\n    import {module}\n'
        f"ModuleNotFoundError: No module named '{module}'\n"
    )


TRAINED = "step 1 loss 0.5\nstep 2 loss 0.4\n"


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        (missing("einops", 3) + TRAINED, [1, 5]),  # whoever trains has imported everything
        (missing("einops", 3) + "step 1 loss 0.5\n", [1]),
        (missing("einops", 101) + TRAINED, [1]),  # at the end of a script that trained
        (missing("einops", 3) + missing("optuna", 5), [1, 5]),  # repaired, and came farther
        (missing("einops", 5) + missing("optuna", 3), [1]),
        (missing("einops", 3, "prepare.py") + missing("optuna", 5), [1]),  # another script of the same job
        ("".join(f"[rank0]: {line}\n" for line in missing("einops", 3).splitlines()) + TRAINED, [1]),
    ],
)
def test_a_start_that_ended_at_its_imports(log: Path, text: str, starts: list[int]) -> None:
    """In one batch and in many."""
    assert started(read(log, text)) == starts
    assert started(read(log, text, Sizes(batch=64, cache=64))) == starts
