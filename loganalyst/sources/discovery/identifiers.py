"""Identifiers by which a run and a job's log recognise each other: job ids, W&B ids, paths and times.

They are taken from names, and from the first and last bytes of files.
"""

import os
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from loganalyst.opening import opened
from loganalyst.sources.discovery.jobs import job_id

END_BYTES = 1 << 16  # read at both ends of a file
MAX_FILES_READ = 64  # files of a run that are searched for its job
MAX_LOG_PATHS = 200

_ID = r"(\d{1,10}(?:_\d{1,7})?)(?![\d_])"
# SLURM_JOB_ID=123, slurm.job_id: 123_4, job id is 123
_JOB = re.compile(
    r"(?i)(?:slurm_job_?id|slurm[._]job_id|pbs_jobid|lsb_jobid|\bjob[ _]?id)[\"']?\s{0,4}(?:[:=]|is)?\s{0,4}[\"']?"
    + _ID
)
# the job of an array: SLURM_ARRAY_JOB_ID=123
_ARRAY = re.compile(r"(?i)(?:slurm[._])?array_job_?id[\"']?\s{0,4}[:=]?\s{0,4}[\"']?(\d{1,10})(?!\d)")
# its task: SLURM_ARRAY_TASK_ID=4
_TASK = re.compile(r"(?i)(?:slurm[._])?array_task_?id[\"']?\s{0,4}[:=]?\s{0,4}[\"']?(\d{1,7})(?!\d)")
# the cluster: SLURM_CLUSTER_NAME=alps
_CLUSTER = re.compile(r"(?i)cluster_?name[\"']?\s{0,4}[:=]?\s{0,4}[\"']?([\w.-]{1,64})")
# in a .wandb file: a key after its length, the tag of a string field (0x12), the length of the value
_PACKED = re.compile(rb"[\x06\x0c\x0d](job_id|cluster_name|array_job_id|array_task_id)\x12([\x01-\x40])", re.DOTALL)
# run-20240501_101500-3f9a1c02, https://wandb.ai/team/project/runs/3f9a1c02
_WANDB = re.compile(r"run-(\d{8}_\d{6})-([A-Za-z0-9]{6,64})|/runs/([a-z0-9]{8})(?![A-Za-z0-9])")
# 2024-05-01 10:15:00
_STAMP = re.compile(r"(?<!\d)((?:19|20)\d\d)-([01]\d)-([0-3]\d)[ T]([012]\d):([0-5]\d):([0-5]\d)")
# events.out.tfevents.1714550000.host: seconds since 1970
_EVENTS = re.compile(r"tfevents\.(1\d{9})\.")
# /scratch/me/runs/7/ckpt
_PATH = re.compile(r"[\w.~+=@:-]{0,200}/[\w./+=@:-]{1,400}")
_TEXT_SUFFIXES = (".json", ".yaml", ".yml", ".txt", ".env", ".log", ".out", ".err", ".wandb", ".toml", ".ini", ".cfg")
# a line about files of another run, which was continued, compared with or submitted: Loading checkpoint /runs/6/last.pt
_OF_ANOTHER = re.compile(
    r"(?i)\b(?:load|restor|resum|pretrain|initiali[sz]|fine-?tun|warm.?start|teacher|baseline|compar)|submitted"
)


class RunIdentifiers(NamedTuple):
    """The job ids of a run, each with the file that names it; and its cluster, W&B id and start, where known."""

    jobs: dict[str, str]
    cluster: str
    wandb: str
    started: datetime | None


class LogIdentifiers(NamedTuple):
    """The job ids of a log (in its name, else in its text), whether its name has one, its cluster, W&B ids, first and
    last time, and the paths that it prints, each between a line feed and a slash.
    """

    jobs: frozenset[str]
    named: bool
    cluster: str
    wandb: frozenset[str]
    first: datetime | None
    last: datetime | None
    paths: str


def run_identifiers(root: Path, files: Iterable[Path]) -> RunIdentifiers:
    """The identifiers of a run, from its name and from the ends of its text files."""
    jobs, cluster, starts = dict[str, str](), "", list[datetime]()
    hit = _WANDB.search(root.name)
    wandb = hit[2] or "" if hit else ""
    for file in [file for file in files if file.name.lower().endswith(_TEXT_SUFFIXES) or "tfevents" in file.name][
        :MAX_FILES_READ
    ]:
        starts += _starts(file)
        if "tfevents" in file.name:
            continue
        data = ends(file)
        text = data.decode("utf-8", "replace") + _wandb_job_settings(data)
        if name := job_id(file.name):
            jobs.setdefault(name, "the name of " + file.name)
        for job in _ids(text):
            jobs.setdefault(job, file.name)
        if not cluster and (found := _CLUSTER.search(text)):
            cluster = found[1]
    return RunIdentifiers(jobs, cluster, wandb, min(starts, default=None))


def log_identifiers(log: Path) -> LogIdentifiers:
    """The identifiers of a log, from its name and its ends. If its name has no job id, a single id in it counts."""
    text = ends(log).decode("utf-8", "replace")
    name, inside = job_id(log.name), _ids(text)
    jobs = {name} if name else set(inside) if len(inside) == 1 else set()
    own = "\n".join(line for line in text.split("\n") if "/" in line and not _OF_ANOTHER.search(line))
    cluster = _CLUSTER.search(text) if "cluster" in text.lower() else None
    times = [time for hit in _STAMP.finditer(text) if (time := _time(hit.groups()))]
    wandb = {hit[2] or hit[3] for hit in _WANDB.finditer(own)}
    paths = list(dict.fromkeys(_PATH.findall(own)))[:MAX_LOG_PATHS]
    printed = "".join(f"\n{path.rstrip('/.')}/" for path in paths)
    first, last = min(times, default=None), max(times, default=None)
    return LogIdentifiers(
        frozenset(jobs), bool(name), cluster[1] if cluster else "", frozenset(wandb), first, last, printed
    )


def ends(file: Path) -> bytes:
    """The first and last bytes of a file; none where it cannot be read."""
    try:
        size = os.stat(file).st_size
        with opened(file) as handle:
            head = handle.read(END_BYTES)
            if size <= END_BYTES:
                return head
            handle.seek(max(size - END_BYTES, END_BYTES))
            return head + b"\n" + handle.read(END_BYTES)
    except OSError:
        return b""


def _wandb_job_settings(data: bytes) -> str:
    """The settings of SLURM in a .wandb file, as lines such as `slurm_job_id=123`."""
    lines = (b"slurm_%s=%s" % (hit[1], data[hit.end() : hit.end() + hit[2][0]]) for hit in _PACKED.finditer(data))
    return b"\n".join((b"", *lines, b"")).decode("utf-8", "replace")


def _ids(text: str) -> list[str]:
    """Each job id once; a task of an array as `ID_TASK` too."""
    if "job" not in text.lower():  # as in most texts: faster than the expressions
        return []
    array, task = _ARRAY.search(text), _TASK.search(text)
    both = [f"{array[1]}_{task[1]}"] if array and task else []
    return list(dict.fromkeys([*both, *(hit[1] for hit in _JOB.finditer(text))]))


def _starts(file: Path) -> Iterator[datetime]:
    """When the program started, according to the names of loggers' files."""
    if hit := _EVENTS.search(file.name):
        yield datetime.fromtimestamp(int(hit[1]), UTC)
    # wandb/run-20240501_101500-3f9a1c02/…
    hit = re.search(r"run-(\d{4})(\d\d)(\d\d)_(\d\d)(\d\d)(\d\d)-", str(file))
    if hit and (time := _time(hit.groups())):
        yield time


def _time(fields: tuple[str, ...]) -> datetime | None:
    try:
        return datetime(*map(int, fields), tzinfo=UTC)  # type: ignore[misc,arg-type]  # six numbers
    except ValueError:
        return None
