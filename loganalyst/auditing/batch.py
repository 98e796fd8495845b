"""Audit every run below some folders: read and judge each run that changed, in helper processes, into a store."""

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from loganalyst.auditing.auditsteps import AuditSteps
from loganalyst.auditing.failurecontrasts import contrasts
from loganalyst.auditing.failuregroups import groups
from loganalyst.auditing.jobaccounts import accounts
from loganalyst.auditing.nodefailures import nodes
from loganalyst.auditing.runlist import listing
from loganalyst.errors import StoreError
from loganalyst.limits import MAX_RUN_SECONDS, Limits, processors, share
from loganalyst.model.shortrepr import Short
from loganalyst.processes.crew import kept
from loganalyst.processes.eachitem import Workers
from loganalyst.store import Below, Outcome, Store, dumped_jobs


@dataclass(frozen=True, repr=False)
class Audit(Short):
    """The result of an audit of the runs below some paths.

    - `runs`: one row per run, the worst first (columns: `runlist.COLUMNS`).
    - `groups`: one row per group of runs that failed alike (`failuregroups.COLUMNS`).
    - `contrasts`: one row per setting or node that is more common in failed runs than in healthy runs
      (`failurecontrasts.COLUMNS`).
    - `accounts`: one row per node, user, partition or reason of the scheduler's jobs (`jobaccounts.COLUMNS`).
    - `counts`: how many runs were read, unchanged, judged, reported, failed, or skipped as copies.
    - `faults`: why a report could not be written, and which data of the store was lost.
    - `copies`: (path, original file) of each skipped copy, sorted by path.

    >>> import loganalyst as la
    >>> found = la.audit([], jobs=1)  # no run at all
    >>> found.runs.height, found.groups.height, dict(found.counts)
    (0, 0, {})
    """

    runs: pl.DataFrame
    groups: pl.DataFrame
    contrasts: pl.DataFrame
    accounts: pl.DataFrame
    counts: Mapping[str, int]
    faults: tuple[str, ...] = ()
    copies: tuple[tuple[str, str], ...] = ()

    @property
    def nodes(self) -> pl.DataFrame:
        """The runs by node (`nodefailures.COLUMNS`), the most significant failures first.

        >>> import loganalyst as la
        >>> la.audit([], jobs=1).nodes.columns[:3]
        ['node', 'runs', 'failed']
        """
        return nodes(self.runs)

    @property
    def likely(self) -> bool:
        """Whether a cause is likely in any run.

        >>> import loganalyst as la
        >>> la.audit([], jobs=1).likely
        False
        """
        return bool((self.runs["verdict"] == "likely").any())


def audit(
    paths: Iterable[str | Path] | Below,
    store: str | Path | None = None,
    *,
    jobs: int | None = None,
    seconds: float = MAX_RUN_SECONDS,
    full: bool = False,
    reports: str | Path | None = None,
    writes: Iterable[str | Path | None] = (),
    watch: Callable[[Outcome, int | None], None] | None = None,
    scheduler: str | None = None,
    slurm: bool = False,
    trust_run_settings: bool = False,
) -> Audit:
    """Read and judge every run at or below `paths` that changed since the last audit.

    - `store`: the folder that keeps the results (None: nothing is kept).
    - `jobs`: the number of processes (None: one per processor), or of SLURM jobs with `slurm`.
    - `seconds`: time limit per run. A run that exceeds it or its share of memory, or that cannot be read, gets the
      status `unreadable`; the other runs are not affected.
    - `full`: read all runs again.
    - `reports`: a folder for an HTML report of each failed run. `Audit.runs` then has its path in the column `report`.
    - `writes`: files that the caller is going to write; none may lie in a run.
    - `watch`: called with each outcome, and with the total where it is known.
    - `scheduler`, `slurm`: use the workers of a dask scheduler, or SLURM jobs, instead of local processes.
    - `trust_run_settings`: also obey a loganalyst.yaml that lies in a run.

    Raises StoreError if the store or the report folder cannot be used. Raises LogAnalystError if a cluster cannot be
    used, or if an output file lies in a run.

    >>> import loganalyst as la
    >>> la.audit(["fixtures/runs/nan-lr"], jobs=1).runs["issue"].item()
    'Learning rate too high'
    """
    below = paths if isinstance(paths, Below) else Below(paths)
    store = used_store(store, below)
    writes = list(writes)
    below.refuse([store, reports, *writes])
    processes = processors() if slurm else jobs or processors()
    limits = Limits(seconds, share(_memory(), processes))
    cluster_workers = _workers(scheduler, jobs if slurm else None, store, slurm=slurm)
    with kept(), _store_folder(store) as folder, cluster_workers as workers:
        steps = AuditSteps(Store(folder), processes, limits, workers, watch)
        failures = steps.read(below, full=full, trust_run_settings=trust_run_settings)
        steps.store.refuse([reports, *writes])  # again: job logs that were joined to runs are known only now
        wanted = {id_ for id_, failure in failures.items() if failure is None}
        selected = steps.store.of(wanted)
        steps.judge(wanted)
        runs = listing(selected, wanted, list(filter(None, failures.values())))
        if reports is not None:
            runs = steps.report(selected, runs, Path(reports))
        return _found(steps, selected, runs, below)


def _found(steps: AuditSteps, selected: Store, runs: pl.DataFrame, below: Below) -> Audit:
    """What the listed runs have in common, with the counts and faults of the audit."""
    config = selected.config
    accounted = accounts(pl.concat([selected.jobs.drop("run_id").collect(), dumped_jobs(below.paths)]))
    return Audit(
        runs,
        groups(runs, config),
        contrasts(runs, config),
        accounted,
        steps.counts,
        (*steps.store.faults, *steps.faults),
        tuple(sorted(steps.copies)),
    )


def used_store(store: str | Path | None, below: Below) -> str | Path | None:
    """The store; None where it is not there yet and none of the paths exists, so that nothing would be kept in it."""
    if store is None or os.path.lexists(store) or any(os.path.lexists(path) for path in below.paths):
        return store
    return None


def _memory() -> float | None:
    """Bytes of memory of this machine; None where the system does not report it."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        return None


@contextmanager
def _workers(
    scheduler: str | None, jobs: int | None, store: str | Path | None, *, slurm: bool
) -> Iterator[Workers | None]:
    """The workers of a cluster; None for processes of this machine."""
    if scheduler is None and not slurm:
        yield None
        return
    if store is None:
        raise StoreError("a cluster", "needs a store", "--store names a folder that all its machines see")
    from loganalyst.auditing import cluster

    with cluster.slurm(jobs, Path(store)) if scheduler is None else cluster.connected(scheduler, Path(store)) as found:
        yield found


@contextmanager
def _store_folder(store: str | Path | None) -> Iterator[Path]:
    """The folder of the store; without a store a temporary folder, which is deleted afterwards."""
    if store is not None:
        yield Path(store)
        return
    with tempfile.TemporaryDirectory(prefix="loganalyst-") as folder:
        yield Path(folder)
