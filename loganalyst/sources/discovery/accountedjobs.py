"""The accounted jobs that belong to a run: an accounting file often lists jobs of many runs."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

import polars as pl

from loganalyst.model import RunStatus

JOB_OF_STEP = r"^([^.]+)"  # the job in the id of a step: 47 in 47.batch
_STATUS: dict[str, RunStatus] = {
    "COMPLETED": "finished", "FAILED": "failed", "TIMEOUT": "timeout", "DEADLINE": "timeout",
    "OUT_OF_MEMORY": "killed", "NODE_FAIL": "node_fail", "BOOT_FAIL": "node_fail", "PREEMPTED": "preempted",
    "CANCELLED": "cancelled", "RUNNING": "running", "COMPLETING": "running", "SUSPENDED": "running",
}  # fmt: skip
# the job number in a file name: 47 in train-47.out, 47_3 (task 3 of an array) in slurm-47_3.out
_NUMBER = re.compile(r"(?<![0-9])\d+(?:_\d+)?(?![0-9])")
MIN_ID_DIGITS = 3  # a shorter number in a file's name may count files


class RunJobs(NamedTuple):
    """The rows of the run's jobs, the id of the job that is judged (None: not known), and what was left out and why."""

    jobs: pl.DataFrame
    job: str | None
    left_out: tuple[str, ...]


def jobs_of_run(jobs: pl.DataFrame, sessions: pl.DataFrame, config: pl.DataFrame, logs: Sequence[str]) -> RunJobs:
    """The jobs whose number is in a session, in the settings or in the name of one of the `logs` (paths).

    A single job needs no number. If no number chooses among several jobs, all are kept and none is judged. A
    heterogeneous job has one number and several parts (`50+0`, `50+1`); the first part runs the script and is judged.
    If nothing is accounted for, the job is the last number that the run states.
    """
    stated = _stated_numbers(sessions, config)
    if not jobs.height:
        return RunJobs(jobs, stated[-1] if stated else None, ())
    listed = jobs.with_columns(of=pl.col("job").str.extract(JOB_OF_STEP))
    names = listed["of"].drop_nulls().unique(maintain_order=True).to_list()
    stated = [part for number in stated for part in ([n for n in names if n.startswith(f"{number}+")] or [number])]
    mine = [name for name in names if name in stated] or _named_in_logs(
        listed, [PurePosixPath(log).name for log in logs]
    )
    if not mine and not stated:
        several = (f"{len(names)} jobs are accounted for; which is this run's is not known",)
        return RunJobs(jobs, names[0], ()) if len(names) == 1 else RunJobs(jobs, None, several if names else ())
    others = listed.filter(~pl.col("of").is_in(mine)).group_by("origin", maintain_order=True)
    left_out = (
        f"{file}: {n} jobs that are not this run's" for file, n in others.agg(pl.col("of").n_unique()).iter_rows()
    )
    judged = mine[0] if len(mine) == 1 else next((number for number in reversed(stated) if number in mine), None)
    judged = judged and re.sub(r"\+\d+$", "+0", judged)
    return RunJobs(jobs.filter(listed["of"].is_in(mine)), judged, tuple(left_out))


def status(found: RunJobs) -> RunStatus:
    """How the judged job ended according to the scheduler. Of several accounts, the last one with an end counts."""
    if not found.job:
        return "unknown"
    rows = found.jobs.filter(pl.col("job") == found.job)
    states = rows.sort(pl.col("ended").is_not_null(), maintain_order=True)["state"].drop_nulls()
    word = states[-1].split(" ")[0].rstrip("+") if len(states) else ""
    return _STATUS.get(word, "unknown")


def _stated_numbers(sessions: pl.DataFrame, config: pl.DataFrame) -> list[str]:
    """The job numbers that the run states: those of its settings, then those of its sessions in order."""
    named = pl.col("key").str.to_lowercase().str.replace_all("slurm.", "slurm_", literal=True)  # W&B: slurm.job_id
    last = named.str.split(".").list.last()
    rows = config.filter(pl.col("key").str.contains("(?i)slurm")).select(last, "origin", "value").drop_nulls().rows()
    own, array, task = (
        {origin: value for key, origin, value in rows if key in names}
        for names in (("slurm_job_id", "slurm_jobid"), ("slurm_array_job_id",), ("slurm_array_task_id",))
    )
    tasks = (f"{number}_{task[origin]}" for origin, number in array.items() if origin in task)
    return [*own.values(), *tasks, *sessions.sort("session")["job"].drop_nulls()]


def _named_in_logs(listed: pl.DataFrame, logs: Sequence[str]) -> list[str]:
    """The jobs whose number is in the name of a log: after `slurm-`, with enough digits, or with the job's name."""
    mains = listed.filter(pl.col("job") == pl.col("of")).select("job", "name").unique(maintain_order=True)
    numbers = {log: set(_NUMBER.findall(log)) for log in logs}
    return [
        job
        for job, name in mains.iter_rows()
        if any(
            job in found and (len(job) >= MIN_ID_DIGITS or f"slurm-{job}." in log or (name and name in log))
            for log, found in numbers.items()
        )
    ]
