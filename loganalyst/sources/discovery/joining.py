"""Job logs and accounting files that belong to a run directory although they lie elsewhere.

A log is joined if it surely belongs to the run: (1) its job id is in a file of the run; (2) it prints the run's W&B
id, or the run's path in a line that is not about loading; (3) it is the only job log next to the only run there, and
its times span the run's start. An unsure log is suggested. Another cluster, another job id, and times that are days
apart rule a log out.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import cached_property
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from loganalyst.opening import LEADS_OUT, opened, sibling
from loganalyst.sources.discovery import filenames
from loganalyst.sources.discovery.filenames import Kind
from loganalyst.sources.discovery.identifiers import LogIdentifiers, RunIdentifiers, log_identifiers, run_identifiers
from loganalyst.sources.discovery.jobs import job_id, stem_of
from loganalyst.sources.discovery.runs import Found
from loganalyst.sources.wandb.reader import CONSOLE

MAX_LEVELS_ABOVE = 3  # folders above a run that are searched for job logs; the home folder or a repository is the last
MAX_JOBS_OPENED = 200  # jobs near one run whose logs are opened
MAX_ENTRIES = 20_000  # of a folder
MAX_ACCOUNTING_BYTES = 4 << 20  # of an accounting file that are searched
MAX_CLOCK_DIFFERENCE = timedelta(days=2)  # more than time zones and wrong clocks explain
LOG_FOLDERS = frozenset(
    {"log", "logs", "slurm", "slurm_log", "slurm_logs", "slurm_out", "slurm_outputs", "job_logs", "jobs"}
)
MAX_REMEMBERED = 4096  # folders and logs

Job = tuple[str, ...]  # the logs of one job


class _Listing(NamedTuple):
    """The content of a folder: logs by job, accounting files, how many folders may be runs, and whether it is a
    repository.
    """

    jobs: list[Job]
    accounts: list[str]
    folders: int
    repository: bool


class Joiner:
    """Joins logs to runs, and remembers the folders and logs that it read. `logs` are the real paths of logs from
    anywhere, by job; a run finds them by job id.
    """

    def __init__(self, logs: Iterable[Sequence[str]] = ()) -> None:
        self._listings: dict[str, _Listing] = {}
        self._names: dict[str, str] = {}
        self._home = os.path.realpath(os.path.expanduser("~"))
        self._identifiers: dict[str, LogIdentifiers] = {}
        self._logs = logs

    @cached_property
    def _by_id(self) -> dict[str, list[Job]]:
        """The jobs from anywhere by their ids. There may be thousands; none is listed while no run names its job."""
        found: dict[str, list[Job]] = {}
        for job in self._logs:
            for name in {job_id(log) for log in job} - {""}:
                found.setdefault(name, []).append(tuple(job))
        return found

    def join(self, found: Found) -> Found:
        """The run with its logs added to its files, and the reasons (`basis`); unsure logs are `suggested`.

        A run that is one file gets no logs, except W&B's, which gets the console's output next to it. Logs that lie in
        the run are not added again.
        """
        if found.is_file:
            return _with_console(found)
        root = Path(os.path.realpath(found.root))
        run = run_identifiers(root, found.files)
        has = {os.path.realpath(file) for file in found.files}
        joined = [*self._claimed(root, run, has), *self._accounted(root, run, has)]
        suggested: tuple[str, ...] = ()
        if not run.jobs and not joined and (only := self._only_job(root, run)):
            job, sure = only
            if sure:
                joined = [(log, "the only job log next to the run, and it spans its start") for log in job]
            else:
                suggested = (f"{os.path.relpath(job[0], root)} (the only job log next to it)",)
        return replace(
            found,
            files=(*found.files, *(Path(file) for file, _ in joined)),
            basis=(*found.basis, *(f"{os.path.relpath(file, root)}: {why}" for file, why in joined)),
            suggested=suggested,
            jobs=tuple(sorted(run.jobs)),
        )

    def _claimed(self, root: Path, run: RunIdentifiers, has: set[str]) -> Iterator[tuple[str, str]]:
        """The logs that surely belong to the run, each with the reason."""
        for job in [job for job in self._candidates(root, run) if has.isdisjoint(job)]:
            if why := self._claim(root, run, job):
                yield from ((log, why) for log in job)

    def _accounted(self, root: Path, run: RunIdentifiers, has: set[str]) -> Iterator[tuple[str, str]]:
        """The accounting files of the run, each with the reason."""
        yield from ((account, "accounts for the run's job") for account in self._accounts(root, run, has))

    def near(self, root: str, jobs: Iterable[str]) -> str:
        """A digest of the names near a run's folder (its real path), and of the logs that are named after its `jobs`.
        While the digest and the run stay the same, `join` finds the same.
        """
        named = [self._by_id.get(job) for job in jobs]
        near = self._listed_names(os.path.dirname(root))
        return blake2b(os.fsencode(f"{near}{named}")).hexdigest()[:16] if any(named) else near

    def _listed_names(self, folder: str) -> str:
        """A digest of the names in a folder and in those above it; runs in the same folder share it."""
        if folder not in self._names:
            if len(self._names) >= MAX_REMEMBERED:
                self._names.clear()
            names = repr([(near.jobs, near.accounts, near.folders) for near in self._folders(Path(folder))])
            self._names[folder] = blake2b(os.fsencode(names)).hexdigest()[:16]
        return self._names[folder]

    def _candidates(self, root: Path, run: RunIdentifiers) -> Iterator[Job]:
        """Jobs with one of the run's ids in their name, then those that lie near."""
        seen: set[Job] = set()
        near = [job for folder in self._folders(root.parent) for job in folder.jobs]
        named = [job for name in run.jobs for job in self._by_id.get(name, ())]
        named += [job for job in near if job_id(job[0]) in run.jobs] if run.jobs else []
        for job in (*named, *near[:MAX_JOBS_OPENED]):
            if job not in seen:
                seen.add(job)
                yield job

    def _folders(self, folder: Path) -> Iterator[_Listing]:
        """The folder above a run and those above it, each with its log folders, the nearest first."""
        for _ in range(MAX_LEVELS_ABOVE):
            if folder == folder.parent:
                return
            near = self._listed(folder)
            yield near
            if near.repository or str(folder) == self._home:
                return
            folder = folder.parent

    def _listed(self, folder: Path) -> _Listing:
        if str(folder) not in self._listings:
            if len(self._listings) >= MAX_REMEMBERED:
                self._listings.clear()
            self._listings[str(folder)] = _listing(str(folder))
        return self._listings[str(folder)]

    def _identified(self, log: str) -> LogIdentifiers:
        if log not in self._identifiers:
            if len(self._identifiers) >= MAX_REMEMBERED:
                self._identifiers.clear()
            self._identifiers[log] = log_identifiers(Path(log))
        return self._identifiers[log]

    def _claim(self, root: Path, run: RunIdentifiers, job: Job) -> str:
        """Why the job's logs surely belong to the run; empty where they do not."""
        logs = [self._identified(log) for log in job]
        if any(_contradict(run, log) for log in logs):
            return ""
        for log in logs:
            if common := sorted(log.jobs & run.jobs.keys()):
                return f"job id {common[0]} is in {run.jobs[common[0]]}"
        for log in logs:
            if run.wandb and run.wandb in log.wandb:
                return f"prints the run's W&B id {run.wandb}"
            other_job = run.jobs and log.jobs
            if not other_job and (path := _printed(root, log.paths)):
                return f"prints the run's path {path}"
        return ""

    def _only_job(self, root: Path, run: RunIdentifiers) -> tuple[Job, bool] | None:
        """The only job next to a run that is the only one there, and whether its logs span the run's start."""
        near = self._listed(root.parent)
        if len(near.jobs) != 1 or near.folders != 1:
            return None
        logs = [self._identified(log) for log in near.jobs[0]]
        if any(_contradict(run, log) for log in logs):
            return None
        spans = any(run.started and t.first and t.last and t.first <= run.started <= t.last for t in logs)
        return near.jobs[0], spans

    def _accounts(self, root: Path, run: RunIdentifiers, has: set[str]) -> Iterator[str]:
        """The accounting files near the run that list one of its jobs."""
        if not run.jobs:
            return
        ids = re.compile(rb"(?<![\w.])(?:%s)(?![\w])" % b"|".join(re.escape(i).encode() for i in run.jobs))
        for near in self._folders(root.parent):
            for file in near.accounts:
                if file not in has and ids.search(_head(file)):
                    yield file


def _with_console(found: Found) -> Found:
    console = sibling(found.root, CONSOLE) if found.root.suffix == ".wandb" else None
    if console is None:
        lost = found.root.parent / CONSOLE
        named = found.root.suffix == ".wandb" and os.path.isfile(lost)
        return replace(found, unread=(*found.unread, (lost, LEADS_OUT))) if named else found
    return replace(found, files=(*found.files, console), basis=(f"{CONSOLE}: W&B's copy of the run's console",))


def _listing(folder: str) -> _Listing:
    """The content of a folder and of the log folders in it."""
    logs, accounts, folders, repository = list[str](), list[str](), 0, False
    inner = [folder]
    for place in inner:
        try:
            with os.scandir(place) as entries:
                for entry in islice(entries, MAX_ENTRIES):
                    if entry.is_dir(follow_symlinks=False):
                        repository |= entry.name == ".git"
                        if place == folder and entry.name.lower() in LOG_FOLDERS:
                            inner.append(entry.path)
                        elif place == folder and not entry.name.startswith("."):
                            folders += 1
                    elif entry.is_file(follow_symlinks=False):
                        _sort(entry, logs, accounts)
        except OSError:
            continue
    by_job: dict[str, list[str]] = {}
    for log in sorted(logs):
        name = job_id(log) or stem_of(log)
        by_job.setdefault(os.path.join(os.path.dirname(log), name), []).append(log)
    return _Listing(list(map(tuple, by_job.values())), sorted(accounts), folders, repository)


def _sort(entry: "os.DirEntry[str]", logs: list[str], accounts: list[str]) -> None:
    kind, name = filenames.kind(entry.name), entry.name.lower()
    if kind is Kind.LOG and (name.endswith((".out", ".err", ".stdout", ".stderr")) or job_id(name)):
        logs.append(entry.path)
    elif kind is Kind.SETTINGS and filenames.is_accounting(entry.name):
        accounts.append(entry.path)


def _contradict(run: RunIdentifiers, log: LogIdentifiers) -> bool:
    """Whether the log comes from another cluster, or from another time than the run's start."""
    if run.cluster and log.cluster and run.cluster != log.cluster:
        return True
    if run.started is None or log.first is None or log.last is None:
        return False
    return run.started < log.first - MAX_CLOCK_DIFFERENCE or run.started > log.last + MAX_CLOCK_DIFFERENCE


def _printed(root: Path, paths: str) -> str:
    """The run's path as a log prints it: whole, or its last two folders if they are distinctive, such as a date."""
    if f"\n{root}/" in paths:
        return str(root)
    tail = "/".join(root.parts[-2:])
    distinctive = len(tail) >= 12 and sum(c.isdigit() for c in tail) >= 6
    return tail if distinctive and (f"\n{tail}/" in paths or f"/{tail}/" in paths) else ""


def _head(file: str) -> bytes:
    try:
        with opened(file) as handle:
            return handle.read(MAX_ACCOUNTING_BYTES)
    except OSError:
        return b""
