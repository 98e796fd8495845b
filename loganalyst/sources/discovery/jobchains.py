"""Jobs of one training that follow one another: each later job says that it continues from a checkpoint."""

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from loganalyst import opening
from loganalyst.opening import opened
from loganalyst.patterntraits import having
from loganalyst.sources.discovery.filenames import Kind, kind
from loganalyst.sources.discovery.jobs import job_id
from loganalyst.sources.text.patterns import catalogue

if TYPE_CHECKING:
    from loganalyst.sources.discovery.runs import Found

MAX_JOBS = 64  # of a chain
HEAD_BYTES = 1 << 16  # of a log, in which a job says that it continues


def last(found: "Sequence[Found]") -> "Found | None":
    """The run of the last job of a chain, with the reason in `basis` and the earlier logs as `unread`; None if the runs
    are no chain.

    The names of the logs differ only in the number of the job (`train.o100`, `train.o101`), and each log but the first
    says that its training continues.
    """
    series = [(int(number.partition("_")[0]), run) for run in found if (number := _job(run))]
    names = {run.files[0].name.replace(_job(run), "", 1) for _, run in series}
    numbers = {number for number, _ in series}
    if not len(names) == 1 < len(found) == len(series) == len(numbers) <= MAX_JOBS:
        return None
    jobs = [run for _, run in sorted(series, key=lambda one: one[0])]
    if not all(map(_continues, jobs[1:])):
        return None
    *earlier, end = (run.files[0] for run in jobs)
    words = f"{end.name} continues {', '.join(file.name for file in earlier)}: the last job is judged"
    why = f"an earlier job, which {end.name} continues: name it to have it judged"
    unread = (*jobs[-1].unread, *((file, why) for file in earlier))
    return replace(jobs[-1], basis=(*jobs[-1].basis, words), unread=unread)


def _job(run: "Found") -> str:
    """The job's number in the name of the run's first log; empty if the run is anything but logs in one folder."""
    folders = {os.path.dirname(file) for file in run.files}
    logs = len(folders) == 1 and all(kind(file.name) is Kind.LOG for file in run.files)
    return job_id(run.files[0].name) if logs else ""


def _continues(run: "Found") -> bool:
    """Whether one of the run's logs says at its beginning that the training continues."""
    with opening.within(run.bounds()):
        return any(_says_so(os.fspath(file)) for file in run.files)


def _says_so(file: str) -> bool:
    try:
        with opened(file) as log:
            lines = log.read(HEAD_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        return False
    ids = having("continued")
    patterns = tuple(pattern for pattern in catalogue.catalogue() if pattern.id in ids)
    return catalogue.match(pl.Series(lines, dtype=pl.String), patterns).height > 0
