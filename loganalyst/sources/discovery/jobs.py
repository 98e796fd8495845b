"""The job that a text log belongs to, by the log's name, and the logs of a folder grouped by job."""

import os
import re
from collections.abc import Sequence

from loganalyst.sources.discovery import rotation

# slurm-123.out, slurm_123_4.err
_SLURM = re.compile(r"(?:^|[^a-z0-9])slurm[-_.]?(\d+(?:_\d+)?)(?!\d)")
# of PBS and SGE: train.o123, train.e123-4
_PBS = re.compile(r"\.[oe](\d{2,})(?:-(\d+))?(?:\.\d+)?$")
# 123-train, 123_4.train
_LEADING = re.compile(r"^(\d{3,}(?:_\d+)?)(?=[-_.]|$)")
# train-123, train_job-123_4; not epoch-123: that number counts something else
_TRAILING = re.compile(
    r"(?<!epoch)(?<!step)(?<!iter)(?<!seed)(?<!fold)(?<!rank)(?<!node)[-_.](?:job[-_.]?)?(\d{3,}(?:_\d+)?)$"
)
_SUBMITIT = re.compile(r"^(\d{3,}(?:_\d+)?)_\d+_log$")  # 123_4_0_log: the last number is the process
# 2024-05-01, 20240501_101500: a date with or without its time; or seconds or milliseconds since 1970
_CLOCK = re.compile(
    r"(?<!\d)(?:(?:19|20)\d{2}-?[01]\d-?[0-3]\d(?:[-_t]\d\d[-_:]?\d\d(?:[-_:]?\d\d)?)?|1[4-9]\d{8}(?:\d{3})?)(?!\d)"
)
_ENDING = re.compile(r"\.(?:log|out|err|txt|stdout|stderr)(?=\.|$)", re.IGNORECASE)
# _rank0, .worker-3
_RANK = r"(?:[-_.]?(?:global|local)?[-_.]?(?:rank|worker|node|proc|process|gpu|env|part)?s?[-_.]?\d*)"
# Names that say nothing about the run: train.log, my-job_output, std-err, 2024-05-01. A text must match in one way
# only, else a name of 255 characters would take years. So `stdout` is one word, and `std-out` is two.
_WORD = (
    r"(?:train|training|trainer|val|valid|validation|test|eval|evaluation|main|run|app|debug|info"
    r"|warn|warning|error|errors|err|out|output|log|logs|logger|console|nohup|launch|launcher|metrics|history|rank|worker"
    r"|node|gpu|system|stderr|stdout)"
)  # fmt: skip
_BEFORE = r"(?:(?:slurm|job|my)[-_.]?|std(?:[-_.]|(?!(?:out|err)(?!put|or))))"
_GENERAL = re.compile(
    rf"(?:[-_.]?|{_BEFORE}){_WORD}(?:(?:[-_.]{{0,2}}|[-_.]?{_BEFORE}){_WORD})*[-_.]?{_RANK}"
    r"|\d{8}[-_]\d{4,6}|\d{4}-\d\d-\d\d.*"
)


def job_id(name: str) -> str:
    """The id of the scheduler's job in a log's name (`123`, or `123_4` for a task of an array); empty where it has
    none.

    Examples: `slurm-123.out`, `train-123.err`, `123_0_log.out`, `train.o123`. Dates and times are no ids.
    """
    name = os.path.basename(name).lower()
    if hit := _SLURM.search(name):
        return hit[1]
    if hit := _PBS.search(name):
        return f"{hit[1]}_{hit[2]}" if hit[2] else hit[1]
    stem = _CLOCK.sub("", stem_of(name))
    hit = _SUBMITIT.search(stem) or _LEADING.search(stem) or _TRAILING.search(stem)
    return hit[1] if hit else ""


def stem_of(name: str) -> str:
    """A log's name without its stream and rotation: `a.out`, `a.err` and `a.log.1` belong to one job."""
    log, _ = rotation.part_of(os.path.basename(name))
    return _ENDING.sub("", log).lower()


def by_job(logs: Sequence[str]) -> list[list[str]]:
    """The logs grouped by job, the standard output of each job first; one group where all belong to one run.

    Logs belong to several runs if they carry several job ids. They also do if their names differ, and none is a usual
    name for the log of a run (train.log, stderr.txt, rank_0.log, a date).
    """
    groups: dict[str, list[str]] = {}
    every = sorted(logs)
    found = [job_id(log) for log in every]
    numbers = set(found) - {""}
    for log, number in zip(every, found, strict=True):
        name = number or stem_of(log)
        groups.setdefault("" if not number and _GENERAL.fullmatch(name) else name, []).append(log)
    several = len(numbers) > 1 or ("" not in groups and len(groups) > len(numbers) + 1)
    parts = list(groups.values()) if several else [every]
    for part in (part for part in parts if len(part) > 1):
        part.sort(key=lambda log: (not log.endswith((".out", ".log", ".stdout")), log))
    return parts
