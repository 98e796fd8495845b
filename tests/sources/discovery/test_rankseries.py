"""Logs of one name but for a number: the ranks of one job, or several runs."""

from pathlib import Path

import pytest

from loganalyst import diagnose
from loganalyst.sources.discovery import rankseries
from loganalyst.sources.discovery.runs import discover, runs

STEPS = "".join(f"step {i} loss {2 - i / 32}\n" for i in range(20))
TRACE = 'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    main()\nKeyError: 7\n'


def write(folder: Path, names: str, text: str = STEPS) -> list[str]:
    """Logs of these names; `{}` in the text is the number of the log."""
    logs = [folder / name for name in names.split()]
    for number, log in enumerate(logs):
        log.write_text(text.replace("{}", str(number)))
    return [str(log) for log in logs]


@pytest.mark.parametrize(
    "names",
    [
        "r0.log r1.log r2.log r3.log",
        "rank_0.txt rank_1.txt",
        "log.0 log.1 log.2",
        "worker-3.log worker-4.log",
        "node1.out node2.out",
        "out.0.0 out.0.1",
        "train_r0.err train_r0.out train_r1.err train_r1.out",
        "rank-0.stderr rank-0.stdout rank-1.stderr rank-1.stdout",
    ],
)
def test_logs_of_the_ranks_of_a_job_are_one_run(tmp_path, names):
    logs = write(tmp_path, names)
    (run,) = runs(tmp_path)
    assert (run.root, sorted(map(str, run.files))) == (tmp_path, sorted(logs))
    assert run.basis[0].endswith("read as the logs of the ranks of one job, by their names")


@pytest.mark.parametrize(
    "names", ["seed0.log seed1.log", "fold_0.out fold_1.out", "exp0.log exp1.log", "r50.log vit.log"]
)
def test_logs_of_several_trainings_are_several_runs(tmp_path, names):
    write(tmp_path, names)
    assert len(list(runs(tmp_path))) == 2


@pytest.mark.parametrize(
    ("names", "head", "together"),
    [
        ("a0.log a1.log", "global_rank: {}\n", True),  # each names its own rank
        ("a0.log a1.log", "ready\n", False),
        ("a0.log a1.log", "[rank {}7] ready\n", True),  # each node has ranks of its own
        ("a0.log a1.log", "[rank 0] ready {}\n", False),
        ("a0.log a1.log", "SLURM_JOB_ID=4711\n", True),  # the same job
        ("a0.log a1.log", "2026-01-10 10:00:00 start\n", True),  # the same second
        ("a0.log a1.log", "2026-01-10 1{}:00:00 start\n", False),
        ("r0.log r1.log", "2026-01-10 10:0{}:00 start\n", True),
        ("r0.log r1.log", "2026-01-10 1{}:00:00 start\n", False),  # an hour apart
        ("r0.log r1.log", "SLURM_JOB_ID=471{}\n", False),  # another job
        ("r0.log r1.log", "rank 0 of 1 ready\n", False),  # each is alone
    ],
)
def test_the_heads_of_the_logs_decide(tmp_path, names, head, together):
    assert rankseries.are_of_one_job(write(tmp_path, names, head + STEPS)) is together


def test_one_rank_that_failed_ends_the_run(tmp_path):
    write(tmp_path, "r0.log r1.log")
    (tmp_path / "r1.log").write_text(STEPS + TRACE)
    (cause, *_) = diagnose(tmp_path).causes
    assert (cause.id, cause.file, cause.line) == ("code-exception", "r1.log", 24)
    assert discover(tmp_path).basis == ("r0.log to r1.log: read as the logs of the ranks of one job, by their names",)


def test_no_reason_where_the_names_do_not_say_it():
    assert rankseries.reason(["a0.log", "a1.log"]) == rankseries.reason(["r0.log"]) == ""
