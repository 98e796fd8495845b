"""Every run of some trees: what changed is read and judged, in processes of their own, into a store."""

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from loganalyst.auditing.failurecontrasts import contrasts
from loganalyst.auditing.failuregroups import groups
from loganalyst.auditing.htmlreports import linked, write
from loganalyst.auditing.jobaccounts import accounts
from loganalyst.auditing.nodefailures import nodes
from loganalyst.auditing.runlist import listing
from loganalyst.errors import StoreError
from loganalyst.limits import MAX_RUN_SECONDS, Limits, processors, share
from loganalyst.model.shortrepr import Short
from loganalyst.processes import Workers
from loganalyst.store import Below, Outcome, Store, dumped_jobs
from loganalyst.store.ledger import DamagedError


@dataclass(frozen=True, repr=False)
class Audit(Short):
    """What is known of the runs below some paths.

    `runs` has one row a run, the worst first (columns in `listing.COLUMNS`); `groups` one row a group of runs that
    failed alike (`groups.COLUMNS`); `contrasts` one row a setting or node that failed runs have and healthy ones have
    not (`contrasts.COLUMNS`); `accounts` one row a node, user, partition or reason of the scheduler's jobs
    (`accounts.COLUMNS`); `counts` says how many were read, unchanged, judged, reported just now, failed, left out as
    copies; `faults` why reports could not be written, and what of the store was lost. `copies` are the runs left out,
    each with the file it is a copy of, by path.

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
        """The runs by node (`nodes.COLUMNS`), those that fail most surely first.

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
    """Read and judge every run at or below `paths` that changed since the last time.

    `store` is the folder that remembers (None: nothing is kept), `jobs` the number of processes (None: one a
    processor), `seconds` what a run may take; `full` reads all anew. `reports` is a folder that gets an HTML report of
    each run with a fault, where it has no current one; `Audit.runs` then tells its path in a column `report`. `watch`
    is told each outcome, and how many there will be where that is known. A run that cannot be read, takes too long, or
    takes too much memory costs itself only: its status is `unreadable`. The work is done by processes of this machine,
    by the workers of a dask `scheduler`, or by `jobs` jobs of `slurm`. With `trust_run_settings` a loganalyst.yaml
    that lies in a run is obeyed, too. `writes` are files that the caller is going to
    write. Raises StoreError where the store or the folder of reports cannot be used, LogAnalystError where a cluster
    cannot, and where something that is to be written lies in a run.

    >>> import loganalyst as la
    >>> la.audit(["fixtures/runs/nan-lr"], jobs=1).runs["issue"].item()
    'Learning rate too high'
    """
    below = paths if isinstance(paths, Below) else Below(paths)
    writes = list(writes)
    below.refuse([store, reports, *writes])
    processes = processors() if slurm else jobs or processors()
    limits = Limits(seconds, share(_memory(), processes))
    with _kept(store) as folder, _workers(scheduler, jobs if slurm else None, store, slurm=slurm) as workers:
        kept, counts, copies = Store(folder), Counter[str](), list[tuple[str, str]]()
        met: dict[str, Outcome | None] = {}  # those that failed; to hold the others would slow a scan of many
        for outcome in kept.readings(
            below, processes, limits, full=full, trust_run_settings=trust_run_settings, workers=workers
        ):
            counts[outcome.what] += 1
            if outcome.what == "copy":
                copies.append((outcome.path, outcome.why))
            else:
                met[outcome.run or outcome.path] = outcome if outcome.what == "failed" else None
            if watch:
                watch(outcome, None)
        kept.refuse([reports, *writes])  # job logs that were joined are known by now
        wanted = {id_ for id_, failure in met.items() if failure is None}
        faults, mine = list[str](), kept.of(wanted)
        if total := kept.unjudged(wanted).height:
            try:
                for outcome in kept.judgings(wanted, processes, limits, workers=workers):
                    counts[outcome.what] += 1
                    if watch:
                        watch(outcome, total)
            except DamagedError as error:  # the store was damaged since it was read
                faults.append(str(error))
        runs = listing(mine, wanted, list(filter(None, met.values())))
        if reports is not None:
            for outcome in write(mine, runs, Path(reports), processes, limits):
                counts[outcome.what] += 1
                faults += [outcome.why] if outcome.why else []
                if watch:
                    watch(outcome, None)
            runs = linked(runs, Path(reports))
        config = mine.config
        accounted = accounts(pl.concat([mine.jobs.drop("run_id").collect(), dumped_jobs(below.paths)]))
        groups_, contrasts_ = groups(runs, config), contrasts(runs, config)
        return Audit(runs, groups_, contrasts_, accounted, counts, (*kept.faults, *faults), tuple(sorted(copies)))


def _memory() -> float | None:
    """Bytes of memory the machine has; None where it does not tell."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        return None


@contextmanager
def _workers(
    scheduler: str | None, jobs: int | None, store: str | Path | None, *, slurm: bool
) -> Iterator[Workers | None]:
    """Who does the work; None for processes of this machine."""
    if scheduler is None and not slurm:
        yield None
        return
    if store is None:
        raise StoreError("a cluster", "needs a store", "--store names a folder that all its machines see")
    from loganalyst.auditing import cluster

    with cluster.slurm(jobs, Path(store)) if scheduler is None else cluster.connected(scheduler, Path(store)) as found:
        yield found


@contextmanager
def _kept(store: str | Path | None) -> Iterator[Path]:
    """The store's folder; one that is gone afterwards where none is named."""
    if store is not None:
        yield Path(store)
        return
    with tempfile.TemporaryDirectory(prefix="loganalyst-") as folder:
        yield Path(folder)
