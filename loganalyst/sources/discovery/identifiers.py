"""What a run and a job's log tell of themselves that the other may tell too: job ids, W&B ids, paths, times.

Only names, and the first and last bytes of files, are looked at.
"""

import os
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from loganalyst.opening import opened
from loganalyst.sources.discovery import jobs as discoverjobs

ENDS = 1 << 16  # bytes looked at on both ends of a file
LOOKED_AT = 64  # files of a run that may name its job
MOST_PATHS = 200  # of a log

_ID = r"(\d{1,10}(?:_\d{1,7})?)(?![\d_])"
_JOB = re.compile(
    r"(?i)(?:slurm_job_?id|slurm[._]job_id|pbs_jobid|lsb_jobid|\bjob[ _]?id)[\"']?\s{0,4}(?:[:=]|is)?\s{0,4}[\"']?"
    + _ID
)
_ARRAY = re.compile(r"(?i)(?:slurm[._])?array_job_?id[\"']?\s{0,4}[:=]?\s{0,4}[\"']?(\d{1,10})(?!\d)")
_TASK = re.compile(r"(?i)(?:slurm[._])?array_task_?id[\"']?\s{0,4}[:=]?\s{0,4}[\"']?(\d{1,7})(?!\d)")
_CLUSTER = re.compile(r"(?i)cluster_?name[\"']?\s{0,4}[:=]?\s{0,4}[\"']?([\w.-]{1,64})")
_PACKED = re.compile(rb"[\x06\x0c\x0d](job_id|cluster_name|array_job_id|array_task_id)\x12([\x01-\x40])", re.DOTALL)
_WANDB = re.compile(r"run-(\d{8}_\d{6})-([A-Za-z0-9]{6,64})|/runs/([a-z0-9]{8})(?![A-Za-z0-9])")
_STAMP = re.compile(r"(?<!\d)((?:19|20)\d\d)-([01]\d)-([0-3]\d)[ T]([012]\d):([0-5]\d):([0-5]\d)")
_EVENTS = re.compile(r"tfevents\.(1\d{9})\.")
_PATH = re.compile(r"[\w.~+=@:-]{0,200}/[\w./+=@:-]{1,400}")
_TELLING = (".json", ".yaml", ".yml", ".txt", ".env", ".log", ".out", ".err", ".wandb", ".toml", ".ini", ".cfg")
# a line that speaks of another run's files: what was continued, compared with, or submitted
_OF_ANOTHER = re.compile(
    r"(?i)\b(?:load|restor|resum|pretrain|initiali[sz]|fine-?tun|warm.?start|teacher|baseline|compar)|submitted"
)


class RunTells(NamedTuple):
    """The job ids of a run with the file each stands in, its cluster, W&B id and start, where they are known."""

    jobs: dict[str, str]
    cluster: str
    wandb: str
    started: datetime | None


class LogTells(NamedTuple):
    """The job ids of a log (of its name, else of its ends), its cluster, W&B ids, first and last time, and the paths it
    prints, each between a line feed and a slash.
    """

    jobs: frozenset[str]
    named: bool
    cluster: str
    wandb: frozenset[str]
    first: datetime | None
    last: datetime | None
    paths: str


def of_run(root: Path, files: Iterable[Path]) -> RunTells:
    """What a run tells, by the ends of its smaller files and by its name."""
    jobs, cluster, starts = dict[str, str](), "", list[datetime]()
    hit = _WANDB.search(root.name)
    wandb = hit[2] or "" if hit else ""
    for file in [file for file in files if file.name.lower().endswith(_TELLING) or "tfevents" in file.name][:LOOKED_AT]:
        starts += _starts(file)
        if "tfevents" in file.name:
            continue
        data = ends(file)
        text = data.decode("utf-8", "replace") + _unpacked(data)
        if name := discoverjobs.job(file.name):
            jobs.setdefault(name, "the name of " + file.name)
        for job in _ids(text):
            jobs.setdefault(job, file.name)
        if not cluster and (found := _CLUSTER.search(text)):
            cluster = found[1]
    return RunTells(jobs, cluster, wandb, min(starts, default=None))


def of_log(log: Path) -> LogTells:
    """What a job's log tells, by its name and its ends. Where it has no id of its own a single one in it counts."""
    text = ends(log).decode("utf-8", "replace")
    name, inside = discoverjobs.job(log.name), _ids(text)
    jobs = {name} if name else set(inside) if len(inside) == 1 else set()
    own = "\n".join(line for line in text.split("\n") if "/" in line and not _OF_ANOTHER.search(line))
    cluster = _CLUSTER.search(text) if "cluster" in text.lower() else None
    times = [time for hit in _STAMP.finditer(text) if (time := _time(hit.groups()))]
    wandb = {hit[2] or hit[3] for hit in _WANDB.finditer(own)}
    paths = list(dict.fromkeys(_PATH.findall(own)))[:MOST_PATHS]
    printed = "".join(f"\n{path.rstrip('/.')}/" for path in paths)
    first, last = min(times, default=None), max(times, default=None)
    return LogTells(frozenset(jobs), bool(name), cluster[1] if cluster else "", frozenset(wandb), first, last, printed)


def ends(file: Path) -> bytes:
    """The first and last bytes of a file, nothing where it cannot be read."""
    try:
        size = os.stat(file).st_size
        with opened(file) as handle:
            head = handle.read(ENDS)
            if size <= ENDS:
                return head
            handle.seek(max(size - ENDS, ENDS))
            return head + b"\n" + handle.read(ENDS)
    except OSError:
        return b""


def _unpacked(data: bytes) -> str:
    """What a .wandb file tells of its job (texts by name in protobuf), a line each."""
    lines = (b"slurm_%s=%s" % (hit[1], data[hit.end() : hit.end() + hit[2][0]]) for hit in _PACKED.finditer(data))
    return b"\n".join((b"", *lines, b"")).decode("utf-8", "replace")


def _ids(text: str) -> list[str]:
    """Job ids, those of array tasks as `ID_TASK` too; each once."""
    if "job" not in text.lower():  # most texts: quicker than the patterns
        return []
    array, task = _ARRAY.search(text), _TASK.search(text)
    both = [f"{array[1]}_{task[1]}"] if array and task else []
    return list(dict.fromkeys([*both, *(hit[1] for hit in _JOB.finditer(text))]))


def _starts(file: Path) -> Iterator[datetime]:
    """When the program started, as loggers write it into names."""
    if hit := _EVENTS.search(file.name):
        yield datetime.fromtimestamp(int(hit[1]), UTC)
    hit = re.search(r"run-(\d{4})(\d\d)(\d\d)_(\d\d)(\d\d)(\d\d)-", str(file))
    if hit and (time := _time(hit.groups())):
        yield time


def _time(fields: tuple[str, ...]) -> datetime | None:
    try:
        return datetime(*map(int, fields), tzinfo=UTC)  # type: ignore[misc,arg-type]  # six numbers
    except ValueError:
        return None
