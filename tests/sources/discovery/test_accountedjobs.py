"""The accounted jobs of a run; choices by log names are in tests/sources/slurm."""

from datetime import UTC, datetime

import polars as pl
import pytest

from loganalyst.model import Time, table
from loganalyst.sources.discovery.accountedjobs import RunJobs, jobs_of_run, status


def accounted(*rows: tuple[str, str | None]) -> pl.DataFrame:
    jobs, states = zip(*rows, strict=True)
    ended = [None if state in (None, "RUNNING") else datetime(2024, 5, 1, tzinfo=UTC) for state in states]
    return table("jobs", {"job": jobs, "state": states, "origin": "sacct.psv", "ended": pl.Series(ended, dtype=Time)})


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        (["COMPLETED"], "finished"),
        (["CANCELLED by 1000"], "cancelled"),
        (["OUT_OF_ME+"], "unknown"),  # cut off by sacct's column width: no state of SLURM
        (["TIMEOUT", "RUNNING"], "timeout"),  # an account with an end counts more
        (["REQUEUED"], "unknown"),
        ([None], "unknown"),
    ],
)
def test_status_of_the_judged_job(states: list[str | None], expected: str) -> None:
    assert status(RunJobs(accounted(*(("47", state) for state in states)), "47", ())) == expected


def test_without_a_judged_job_the_status_is_unknown() -> None:
    assert status(RunJobs(accounted(("47", "FAILED")), None, ())) == "unknown"


@pytest.mark.parametrize(
    ("key", "job"),
    [("SLURM_JOB_ID", "48"), ("env.SLURM_JOBID", "48"), ("slurm.job_id", "48"), ("my_job_id", None)],
)
def test_settings_state_the_job(key: str, job: str | None) -> None:
    config = table("config", {"key": [key], "value": ["48"], "origin": "config.yaml"})
    found = jobs_of_run(accounted(("47", "FAILED"), ("48", "FAILED")), table("sessions"), config, [])

    assert found.job == job
    assert found.jobs.height == (1 if job else 2)
