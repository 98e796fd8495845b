"""Training that goes on behind the scheduler's word that it stopped the job."""

from pathlib import Path

import pytest

from loganalyst.model import Tables
from loganalyst.sources.text import reader

STOP = "slurmstepd: error: *** JOB 91 ON c3 CANCELLED AT 2024-01-01T00:00:00 DUE TO {} ***\n"


def epochs(first: int, last: int) -> str:
    return "".join(f"Epoch {n}/9  train 0.{99 - n}  val 1.{99 - n}\n" for n in range(first, last + 1))


def ended(path: Path, text: str) -> list[tuple[int, str]]:
    """The first line of each start in a log, and how it ended."""
    path.write_text(text)
    return Tables.concat(reader.read(path)).sessions.select("first_line", "status").rows()


@pytest.mark.parametrize(
    ("why", "announced", "status"),
    [
        ("JOB REQUEUE", "Resuming from epoch 4\n", "preempted"),
        ("PREEMPTION", "job script on host c8, restart 1\n", "preempted"),  # as its first line
        ("TIME LIMIT", "=> loaded checkpoint 'last.pt' (epoch 4)\n", "timeout"),
    ],
)
def test_an_announced_training_behind_a_stop_is_a_start(tmp_path: Path, why: str, announced: str, status: str) -> None:
    log = "job script on host c3, restart 0\n" + epochs(1, 4) + STOP.format(why) + announced + epochs(5, 9)

    assert ended(tmp_path / "a.log", log + "Training finished\n") == [(1, status), (7, "finished")]


@pytest.mark.parametrize(
    "behind",
    [
        epochs(5, 6),  # nothing announces it: what ranks still wrote
        "the job will be resumed from /ck/last.pt\nsaved 3 files in 2 s\n",  # no training follows
    ],
)
def test_a_stop_is_the_end_where_no_training_is_announced(tmp_path: Path, behind: str) -> None:
    log = "job script on host c3\n" + epochs(1, 4) + STOP.format("PREEMPTION") + behind

    assert ended(tmp_path / "a.log", log) == [(1, "preempted")]
