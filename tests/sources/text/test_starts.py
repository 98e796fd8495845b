"""Which marks begin a session: those behind a failure, or behind training."""

from pathlib import Path

import polars as pl
import pytest

from tests.sources.text.startlogs import STEPS, TRACE, read, started


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


def test_a_fresh_bar_after_a_failure(log: Path) -> None:
    """A progress bar at zero begins a session only after a fault."""
    bar = "  0%|          | 0/10 [00:00<?, ?it/s]\n"
    tables = read(log, bar + "x\n" + bar + "ValueError: boom\n" + bar)

    assert started(tables) == [1, 5]


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
