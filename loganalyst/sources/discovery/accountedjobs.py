"""Which of the accounted jobs a run is: an accounting file often lists many."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

import polars as pl

from loganalyst.model import RunStatus

STEP = r"^([^.]+)"  # what a step's id shares with that of its job: 47 of 47.batch
_STATUS: dict[str, RunStatus] = {
    "COMPLETED": "finished", "FAILED": "failed", "TIMEOUT": "timeout", "DEADLINE": "timeout",
    "OUT_OF_MEMORY": "killed", "NODE_FAIL": "node_fail", "BOOT_FAIL": "node_fail", "PREEMPTED": "preempted",
    "CANCELLED": "cancelled", "RUNNING": "running", "COMPLETING": "running", "SUSPENDED": "running",
}  # fmt: skip
_NUMBER = re.compile(r"(?<![0-9])\d+(?:_\d+)?(?![0-9])")
_SURE = 3  # digits; a shorter number in a file's name may count files


class Own(NamedTuple):
    """The rows of the run's own jobs, the one that is judged (None: not known), and what was left out and why."""

    jobs: pl.DataFrame
    job: str | None
    left_out: tuple[str, ...]


def own(jobs: pl.DataFrame, sessions: pl.DataFrame, config: pl.DataFrame, logs: Sequence[str]) -> Own:
    """The jobs whose number a session, the settings or the name of one of the `logs` (paths) tells.

    A single job needs no number. Of several that no number chooses from all are kept, and none is judged. Of the parts
    of a heterogeneous job (`50+0`, `50+1`), which has one number, the first is judged: it runs the script. Where
    nothing is accounted for, the last number told.
    """
    told = _told(sessions, config)
    if not jobs.height:
        return Own(jobs, told[-1] if told else None, ())
    listed = jobs.with_columns(of=pl.col("job").str.extract(STEP))
    names = listed["of"].drop_nulls().unique(maintain_order=True).to_list()
    told = [part for number in told for part in ([n for n in names if n.startswith(f"{number}+")] or [number])]
    mine = [name for name in names if name in told] or _named(listed, [PurePosixPath(log).name for log in logs])
    if not mine and not told:
        several = (f"{len(names)} jobs are accounted for; which is this run's is not known",)
        return Own(jobs, names[0], ()) if len(names) == 1 else Own(jobs, None, several if names else ())
    others = listed.filter(~pl.col("of").is_in(mine)).group_by("origin", maintain_order=True)
    left_out = (
        f"{file}: {n} jobs that are not this run's" for file, n in others.agg(pl.col("of").n_unique()).iter_rows()
    )
    judged = mine[0] if len(mine) == 1 else next((number for number in reversed(told) if number in mine), None)
    judged = judged and re.sub(r"\+\d+$", "+0", judged)
    return Own(jobs.filter(listed["of"].is_in(mine)), judged, tuple(left_out))


def status(found: Own) -> RunStatus:
    """How the scheduler says the judged job ended; of several accounts of it the last with an end counts."""
    if not found.job:
        return "unknown"
    rows = found.jobs.filter(pl.col("job") == found.job)
    states = rows.sort(pl.col("ended").is_not_null(), maintain_order=True)["state"].drop_nulls()
    word = states[-1].split(" ")[0].rstrip("+") if len(states) else ""
    return _STATUS.get(word, "unknown")


def _told(sessions: pl.DataFrame, config: pl.DataFrame) -> list[str]:
    """The job numbers a run tells of itself, the last session's last."""
    named = pl.col("key").str.to_lowercase().str.replace_all("slurm.", "slurm_", literal=True)  # W&B: slurm.job_id
    last = named.str.split(".").list.last()
    rows = config.filter(pl.col("key").str.contains("(?i)slurm")).select(last, "origin", "value").drop_nulls().rows()
    own, array, task = (
        {origin: value for key, origin, value in rows if key in names}
        for names in (("slurm_job_id", "slurm_jobid"), ("slurm_array_job_id",), ("slurm_array_task_id",))
    )
    tasks = (f"{number}_{task[origin]}" for origin, number in array.items() if origin in task)
    return [*own.values(), *tasks, *sessions.sort("session")["job"].drop_nulls()]


def _named(listed: pl.DataFrame, logs: Sequence[str]) -> list[str]:
    """The jobs whose number stands in the name of a log: after `slurm-`, of some length, or with their name."""
    mains = listed.filter(pl.col("job") == pl.col("of")).select("job", "name").unique(maintain_order=True)
    numbers = {log: set(_NUMBER.findall(log)) for log in logs}
    return [
        job
        for job, name in mains.iter_rows()
        if any(
            job in found and (len(job) >= _SURE or f"slurm-{job}." in log or (name and name in log))
            for log, found in numbers.items()
        )
    ]
