"""The work of an audit on the workers of a dask cluster, or of jobs that SLURM starts.

Runs and store lie where all machines see them under the same path. A worker writes a run's big tables under names of
its own below the store's `tmp/` and hands back the rest; who asked is the only one that puts anything into its place,
under the store's lock, as it does with processes of its own. So a worker that dies leaves nothing but files that nobody
names; its runs are done again by others, and an answer that comes twice or too late is nobody's.
"""

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from loganalyst.errors import LogAnalystError, how_to_install
from loganalyst.limits import Limits, share
from loganalyst.processes import Crew, Item, Ready, Result
from loganalyst.store import Store, judgedrows

JOBS = 8  # of SLURM, where no number is given
DEFAULTS = {"cores": 1, "memory": "4GB"}  # of a job, where dask's own configuration says nothing
PATIENCE = 60.0  # seconds to wait for a scheduler's first worker; the queue of SLURM may take as long as it likes
QUEUED = 2  # items given out for each thread of a worker: the one it is at, and the next
LOOK = 5.0  # seconds between two looks at how many workers there are


class Cluster:
    """Does items on the workers of a dask `client`, for each thread of a worker in a process with limits of its own."""

    def __init__(self, client: Any, patience: float | None = PATIENCE) -> None:
        self._client, self._patience = client, patience  # None: workers may take as long as they like to come
        self._looked, self._seen, self._room = float("-inf"), time.monotonic(), 0

    def each(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item | Ready[Result]],
        died: Callable[[Item, str], Result],
        limits: Limits,
    ) -> Iterator[Result]:
        """As `processes.each`. The item of a worker that died is done again by another one; `died` gives the result of
        an item that several workers died at. Raises LogAnalystError where the scheduler goes away.
        """
        busy: dict[Any, Item] = {}
        left = iter(items)
        try:
            while True:
                while len(busy) < self._places() and (item := next(left, None)) is not None:
                    if isinstance(item, Ready):
                        yield item.value
                        continue
                    busy[self._client.submit(_attempt, function, item, died, limits.seconds, pure=False)] = item
                if not busy:
                    return
                for future in self._done(list(busy)):
                    yield self._result(future, busy.pop(future), died)
        finally:
            with suppress(Exception):  # where the scheduler is gone there is nothing to end
                self._client.cancel(list(busy))
                self._client.run(_dismiss, on_error="ignore")

    def _places(self) -> int:
        """How many items may be given out. Raises LogAnalystError where workers are gone for longer than is waited."""
        now = time.monotonic()
        if now - self._looked > LOOK:
            threads = sum(self._client.nthreads().values())
            self._seen = now if threads or self._patience is None else self._seen
            if now - self._seen > (self._patience or now):
                raise LogAnalystError(self._client.scheduler.address, "has no workers any more", "start `dask worker`")
            self._looked, self._room = now, QUEUED * max(1, threads)
        return self._room

    def _done(self, busy: list[Any]) -> Iterable[Any]:
        """Those that are done, as soon as one is."""
        from distributed import wait

        while True:
            with suppress(TimeoutError):
                found: Iterable[Any] = wait(busy, timeout=LOOK, return_when="FIRST_COMPLETED").done
                return found
            self._places()

    def _result(self, future: Any, item: Item, died: Callable[[Item, str], Result]) -> Result:
        from distributed import CancelledError, KilledWorker

        try:
            result: Result = future.result()
        except KilledWorker as error:
            return died(item, f"{error.allowed_failures + 1} workers died while they were at it")
        except (CancelledError, OSError) as error:
            raise LogAnalystError(self._client.scheduler.address, f"the cluster went away ({error})") from None
        return result


_crews: dict[int, tuple[object, Crew[Any, Any]]] = {}  # of each thread of a worker: what for, and its process


def _attempt(
    function: Callable[[Item], Result], item: Item, died: Callable[[Item, str], Result], seconds: float
) -> Result:
    """On a worker: the function of an item, in a process that outlives it, so that limits cost nobody else."""
    limits = Limits(seconds, _memory())
    thread, purpose = threading.get_ident(), (function, limits)
    before, crew = _crews.get(thread, (None, None))
    if crew is None or before != purpose:
        if crew:
            crew.stop()
        crew = Crew(function, died, limits)
        _crews[thread] = (purpose, crew)
    crew.start(item)
    result: Result = crew.next()
    return result


def _memory() -> float:
    """What a run may take of this worker's memory."""
    from distributed import get_worker

    worker = get_worker()
    return share(worker.memory_manager.memory_limit, worker.state.nthreads)


def _dismiss() -> None:
    """On a worker: end what was kept for the next item."""
    while _crews:
        with suppress(KeyError):
            _crews.popitem()[1][1].stop()


@contextmanager
def connected(address: str, store: Path) -> Iterator[Cluster]:
    """The workers of the scheduler at `address`, which must see the store.

    Raises LogAnalystError where dask.distributed is not installed, nobody answers, no worker comes, or the workers have
    another version or do not see the store.
    """
    with _missing("--scheduler", "dask.distributed"):
        from distributed import Client
    try:
        client = Client(address, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise LogAnalystError(address, f"no scheduler answers ({error})", "tcp://HOST:8786 is the usual form") from None
    with client:
        _ready(client, store, PATIENCE)
        yield Cluster(client)


@contextmanager
def slurm(jobs: int | None, store: Path) -> Iterator[Cluster]:
    """Workers in `jobs` jobs of SLURM, which end afterwards; queue, account, memory and time of a job are those of
    dask's own configuration (`jobqueue.slurm`). Raises LogAnalystError as `connected`, and where no job can be sent.
    """
    with _missing("--slurm", "dask-jobqueue"):
        import dask
        from dask_jobqueue import SLURMCluster
        from distributed import Client
    told = {name: dask.config.get(f"jobqueue.slurm.{name}", None) or value for name, value in DEFAULTS.items()}
    with ExitStack() as stack:
        try:
            started = stack.enter_context(SLURMCluster(**told))
            started.adapt(minimum_jobs=jobs or JOBS, maximum_jobs=jobs or JOBS)  # a job that ends has another follow
            client = stack.enter_context(Client(started))
            _ready(client, store, None)
        except (OSError, RuntimeError, ValueError) as error:
            raise LogAnalystError("SLURM", f"no workers can be started ({error})", "see docs/scaling.md") from None
        yield Cluster(client, None)


@contextmanager
def _missing(option: str, package: str) -> Iterator[None]:
    try:
        yield
    except ImportError:
        raise LogAnalystError(option, f"{package} is not installed", how_to_install("cluster")) from None


def _ready(client: Any, store: Path, patience: float | None) -> None:
    """Wait for a worker, and see that all are what is needed."""
    address = client.scheduler.address
    try:
        client.wait_for_workers(1, timeout=patience)
    except TimeoutError:
        raise LogAnalystError(address, f"no worker within {PATIENCE:g} s", "start `dask worker` for it") from None
    Store(store).ingest([])  # makes what is not there yet
    probe = store / "tmp" / f"seen-{uuid4().hex}"
    probe.touch()
    told = client.run(_facts, str(probe.absolute()), on_error="return")
    probe.unlink(missing_ok=True)
    for worker, facts in told.items():
        if isinstance(facts, BaseException):
            raise LogAnalystError(worker, f"cannot work for us ({facts})", "install loganalyst for its Python")
        version, sees = facts
        if version != judgedrows.version():
            raise LogAnalystError(worker, f"has version {version}", f"{judgedrows.version()} is needed, as here")
        if not sees:
            raise LogAnalystError(
                worker, f"does not see the store {store}", "a folder that all machines share is needed"
            )


def _facts(probe: str) -> tuple[str, bool]:
    """On a worker: its version of the program and its rules, and whether it sees a file of the store."""
    return judgedrows.version(), os.path.exists(probe)
