"""Whether logs whose names differ in one number are those of the ranks or nodes of one job.

The names propose it (`r0.log` to `r3.log`, `out.0.1`, `node1.out`), and the heads of the logs decide: a log that names
its own rank confirms it, and so do logs that name different ranks: each node has its own. Another job id or another
time of start contradicts it.
"""

import os
import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from loganalyst.sources.discovery.identifiers import LogIdentifiers, log_identifiers
from loganalyst.sources.text.lines import owners

MAX_LOGS_READ = 6  # whose heads are read
MAX_START_DIFFERENCE_S = 600.0  # ranks of one job start within this time; large jobs need minutes
# `r0.log`, `train_rank-3.out`, `log.0`, `out.0.1`: the text before the last number, the number, the ending
_NUMBERED = re.compile(r"(.*?)(\d{1,5})((?:\.(?:log|out|err|txt|stdout|stderr))?)", re.IGNORECASE | re.DOTALL)
# The words before the number that propose ranks or nodes: `train_r`, `worker-`, `out.0.`, `log.`
_OF_RANKS = re.compile(
    r"(?:^|[-_.\d])(?:(?:global|local|world)?[-_]?(?:rank|r|worker|w|proc|process|p|gpu|node|host|pod|machine)s?"
    r"|(?:log|out|err|stdout|stderr|output)\.(?:\d{1,5}\.)?)[-_.]?$",
    re.IGNORECASE,
)
# The words of further trainings: `seed`, `exp-`, `fold_`
_OF_RUNS = re.compile(
    r"(?:seed|exp|experiment|run|fold|trial|version|v|model|config|cfg|lr|job|stage|epoch|phase|part|try|attempt|test)s?[-_.]?$",
    re.IGNORECASE,
)


class _Series(NamedTuple):
    """Logs of one name but for a number: the text before the number, and the logs by number."""

    before: str
    logs: dict[int, str]


def _series(logs: Sequence[str]) -> _Series | None:
    """The series that the logs form; None if they form none. A `.err` beside an `.out` has the same number."""
    names = [(log, hit) for log in sorted(logs) if (hit := _NUMBERED.fullmatch(os.path.basename(log)))]
    before = {(os.path.dirname(log), hit[1]) for log, hit in names}
    if len(names) < len(logs) or len(before) != 1:
        return None
    by_number: dict[int, str] = {}
    for log, hit in names:
        by_number.setdefault(int(hit[2]), log)
    return _Series(names[0][1][1], by_number) if len(by_number) > 1 else None


def are_of_one_job(logs: Sequence[str]) -> bool:
    """Whether the logs belong to the ranks or nodes of one job."""
    series = _series(logs)
    if series is None or _OF_RUNS.search(series.before):
        return False
    proposed = _OF_RANKS.search(series.before) is not None
    some = dict(sorted(series.logs.items())[:MAX_LOGS_READ])
    known = [log_identifiers(Path(log)) for log in some.values()]
    if _contradict(known):
        return False
    own = [owners.names_mostly(Path(log), number) for number, log in some.items()]
    stated = [is_own for is_own in own if is_own is not None]
    if stated and (not proposed or len(stated) == len(own)):
        return all(stated) or owners.name_different_ranks([Path(log) for log in some.values()])
    return proposed or _started_together(known)


def _contradict(known: Sequence[LogIdentifiers]) -> bool:
    """Whether the logs state different jobs, or started at different times."""
    jobs = {log.jobs for log in known if log.jobs}
    return len(jobs) > 1 or (_spread(known) or 0.0) > MAX_START_DIFFERENCE_S


def _started_together(known: Sequence[LogIdentifiers]) -> bool:
    """Whether the logs state the same job, or all started within a second."""
    spread = _spread(known) if all(log.first for log in known) else None
    return {log.jobs for log in known} - {frozenset()} != set() or (spread is not None and spread <= 1.0)


def _spread(known: Sequence[LogIdentifiers]) -> float | None:
    """Seconds between the first and the last start; None where fewer than two are known."""
    starts: list[datetime] = [log.first for log in known if log.first]
    return (max(starts) - min(starts)).total_seconds() if len(starts) > 1 else None


def reason(files: Sequence[str]) -> str:
    """A sentence that says that some of a run's files are read as the logs of its ranks; empty where none are.

    >>> reason(["runs/7/r0.log", "runs/7/r1.log"])
    'r0.log to r1.log: read as the logs of the ranks of one job, by their names'
    """
    series = _series(files)
    if series is None or not _OF_RANKS.search(series.before):
        return ""
    first, *_, last = (os.path.basename(log) for _, log in sorted(series.logs.items()))
    return f"{first} to {last}: read as the logs of the ranks of one job, by their names"
