"""Which job logs and accounting files belong to a run directory, though they lie elsewhere.

Joined is what is sure: (1) the job's id stands in a file of the run; (2) the log prints the run's W&B id, or its path
in a line that does not speak of loading; (3) it is the only job log beside the only run there and its times span the
run's start. What is not sure is suggested. Other clusters, other job ids and times days apart speak against a log.
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

from loganalyst.opening import LEADS_OUT, beside, opened
from loganalyst.sources.discovery import filenames as discovernames
from loganalyst.sources.discovery import identifiers as joiningtold
from loganalyst.sources.discovery import jobs as discoverjobs
from loganalyst.sources.discovery.filenames import Kind
from loganalyst.sources.discovery.identifiers import LogTells, RunTells
from loganalyst.sources.discovery.runs import Found
from loganalyst.sources.wandb.reader import CONSOLE

LEVELS = 3  # folders above a run whose job logs are looked at; never above the home folder or a repository
MOST = 200  # jobs near one run whose logs are looked into
LISTED = 20_000  # entries of a folder
ACCOUNTS = 4 << 20  # bytes of an accounting file that are looked at
APART = timedelta(days=2)  # more than time zones and clocks that are set wrong explain
LOG_FOLDERS = frozenset(
    {"log", "logs", "slurm", "slurm_log", "slurm_logs", "slurm_out", "slurm_outputs", "job_logs", "jobs"}
)
REMEMBERED = 4096  # folders and logs

Job = tuple[str, ...]  # the logs of one job


class _Near(NamedTuple):
    """What lies in a folder: the logs job by job, accounting files, and how many folders may be runs."""

    jobs: list[Job]
    accounts: list[str]
    folders: int
    repository: bool


class Joiner:
    """Joins logs to runs and remembers what it looked at. `logs` are the real paths of jobs' logs from anywhere, found
    by their ids.
    """

    def __init__(self, logs: Iterable[Sequence[str]] = ()) -> None:
        self._near: dict[str, _Near] = {}
        self._names: dict[str, str] = {}
        self._home = os.path.realpath(os.path.expanduser("~"))
        self._told: dict[str, LogTells] = {}
        self._logs = logs

    @cached_property
    def _by_id(self) -> dict[str, list[Job]]:
        """The jobs from anywhere by their ids: of many thousands none need be looked at where no run names its job."""
        found: dict[str, list[Job]] = {}
        for job in self._logs:
            for name in {discoverjobs.job(log) for log in job} - {""}:
                found.setdefault(name, []).append(tuple(job))
        return found

    def join(self, found: Found) -> Found:
        """The run with the logs that are its own added to its files, and why (`basis`); unsure ones in `suggested`.

        One file is left as it is, but W&B's gets the console's output beside it; so are logs that lie in the run.
        """
        if found.alone:
            return _with_console(found)
        root = Path(os.path.realpath(found.root))
        tells = joiningtold.of_run(root, found.files)
        has = {os.path.realpath(file) for file in found.files}
        files, basis = list[Path](), list[str]()
        jobs = [job for job in self._candidates(root, tells) if has.isdisjoint(job)]
        for job in jobs:
            if why := self._claim(root, tells, job):
                files += map(Path, job)
                basis += [f"{_short(log, root)}: {why}" for log in job]
        for account in self._accounts(root, tells, has):
            files.append(Path(account))
            basis.append(f"{_short(account, root)}: accounts for the run's job")
        suggested: list[str] = []
        if not tells.jobs and not files and (alone := self._alone(root, tells)):
            job, sure = alone
            if sure:
                files += map(Path, job)
                basis += [
                    f"{_short(log, root)}: the only job log beside the run, and it spans its start" for log in job
                ]
            else:
                suggested.append(f"{_short(job[0], root)} (the only job log beside it)")
        return replace(
            found,
            files=(*found.files, *files),
            basis=tuple(basis),
            suggested=tuple(suggested),
            jobs=tuple(sorted(tells.jobs)),
        )

    def near(self, root: str, jobs: Iterable[str]) -> str:
        """What lies near a run's folder (its real path), and which logs are named after its `jobs`, by names alone:
        while that is the same, and the run too, so is what `join` finds.
        """
        named = [self._by_id.get(job) for job in jobs]
        near = self._listed_names(os.path.dirname(root))
        return blake2b(os.fsencode(f"{near}{named}")).hexdigest()[:16] if any(named) else near

    def _listed_names(self, folder: str) -> str:
        """What lies in a folder and in those above it; runs that lie side by side share it."""
        if folder not in self._names:
            if len(self._names) >= REMEMBERED:
                self._names.clear()
            names = repr([(near.jobs, near.accounts, near.folders) for near in self._folders(Path(folder))])
            self._names[folder] = blake2b(os.fsencode(names)).hexdigest()[:16]
        return self._names[folder]

    def _candidates(self, root: Path, tells: RunTells) -> Iterator[Job]:
        """Jobs whose name carries one of the run's ids, then those that lie near."""
        seen: set[Job] = set()
        near = [job for folder in self._folders(root.parent) for job in folder.jobs]
        named = [job for name in tells.jobs for job in self._by_id.get(name, ())]
        named += [job for job in near if discoverjobs.job(job[0]) in tells.jobs] if tells.jobs else []
        for job in (*named, *near[:MOST]):
            if job not in seen:
                seen.add(job)
                yield job

    def _folders(self, folder: Path) -> Iterator[_Near]:
        """The folder above a run, those above it and the log folders in them, the nearest first."""
        for _ in range(LEVELS):
            if folder == folder.parent:
                return
            near = self._listed(folder)
            yield near
            if near.repository or str(folder) == self._home:
                return
            folder = folder.parent

    def _listed(self, folder: Path) -> _Near:
        if str(folder) not in self._near:
            if len(self._near) >= REMEMBERED:
                self._near.clear()
            self._near[str(folder)] = _list(str(folder))
        return self._near[str(folder)]

    def _tells(self, log: str) -> LogTells:
        if log not in self._told:
            if len(self._told) >= REMEMBERED:
                self._told.clear()
            self._told[log] = joiningtold.of_log(Path(log))
        return self._told[log]

    def _claim(self, root: Path, run: RunTells, job: Job) -> str:
        """Why the job's logs are the run's for sure; empty where they are not."""
        told = [self._tells(log) for log in job]
        if any(_contradict(run, log) for log in told):
            return ""
        for log in told:
            if common := sorted(log.jobs & run.jobs.keys()):
                return f"job id {common[0]} stands in {run.jobs[common[0]]}"
        for log in told:
            if run.wandb and run.wandb in log.wandb:
                return f"prints the run's W&B id {run.wandb}"
            other_job = run.jobs and log.jobs
            if not other_job and (path := _printed(root, log.paths)):
                return f"prints the run's path {path}"
        return ""

    def _alone(self, root: Path, run: RunTells) -> tuple[Job, bool] | None:
        """The only job log beside a run that is the only one there, and whether its times span the run's start."""
        near = self._listed(root.parent)
        if len(near.jobs) != 1 or near.folders != 1:
            return None
        told = [self._tells(log) for log in near.jobs[0]]
        if any(_contradict(run, log) for log in told):
            return None
        spans = any(run.started and t.first and t.last and t.first <= run.started <= t.last for t in told)
        return near.jobs[0], spans

    def _accounts(self, root: Path, run: RunTells, has: set[str]) -> Iterator[str]:
        """The accounting files near the run that list one of its jobs."""
        if not run.jobs:
            return
        ids = re.compile(rb"(?<![\w.])(?:%s)(?![\w])" % b"|".join(re.escape(i).encode() for i in run.jobs))
        for near in self._folders(root.parent):
            for file in near.accounts:
                if file not in has and ids.search(_opening(file)):
                    yield file


def _with_console(found: Found) -> Found:
    console = beside(found.root, CONSOLE) if found.root.suffix == ".wandb" else None
    if console is None:
        lost = found.root.parent / CONSOLE
        named = found.root.suffix == ".wandb" and os.path.isfile(lost)
        return replace(found, unread=(*found.unread, (lost, LEADS_OUT))) if named else found
    return replace(found, files=(*found.files, console), basis=(f"{CONSOLE}: W&B's copy of the run's console",))


def _list(folder: str) -> _Near:
    """What lies in a folder and in the log folders in it."""
    logs, accounts, folders, repository = list[str](), list[str](), 0, False
    inner = [folder]
    for place in inner:
        try:
            with os.scandir(place) as entries:
                for entry in islice(entries, LISTED):
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
        name = discoverjobs.job(log) or discoverjobs.stem_of(log)
        by_job.setdefault(os.path.join(os.path.dirname(log), name), []).append(log)
    return _Near(list(map(tuple, by_job.values())), sorted(accounts), folders, repository)


def _sort(entry: "os.DirEntry[str]", logs: list[str], accounts: list[str]) -> None:
    kind, name = discovernames.kind(entry.name), entry.name.lower()
    if kind is Kind.LOG and (name.endswith((".out", ".err")) or discoverjobs.job(name)):
        logs.append(entry.path)
    elif kind is Kind.SETTINGS and discovernames.accounts(entry.name):
        accounts.append(entry.path)


def _contradict(run: RunTells, log: LogTells) -> bool:
    """Whether the log is of another cluster, or of another time than the run's start."""
    if run.cluster and log.cluster and run.cluster != log.cluster:
        return True
    if run.started is None or log.first is None or log.last is None:
        return False
    return run.started < log.first - APART or run.started > log.last + APART


def _printed(root: Path, paths: str) -> str:
    """The run's path as a log prints it: whole, or its last two folders where they hold a date or the like."""
    if f"\n{root}/" in paths:
        return str(root)
    tail = "/".join(root.parts[-2:])
    distinctive = len(tail) >= 12 and sum(c.isdigit() for c in tail) >= 6
    return tail if distinctive and (f"\n{tail}/" in paths or f"/{tail}/" in paths) else ""


def _short(file: str, root: Path) -> str:
    return os.path.relpath(file, root)


def _opening(file: str) -> bytes:
    try:
        with opened(file) as handle:
            return handle.read(ACCOUNTS)
    except OSError:
        return b""
