"""Run the work of an audit on the workers of a dask cluster, or in SLURM jobs.

All machines see the runs and the store under the same paths. A worker writes the big tables of a run under unique
names below the store's `tmp/`, and returns the rest. Only the process that started the audit moves files into place,
under the store's lock, as for local processes. A worker that dies therefore leaves only unreferenced files; another
worker repeats its runs, and a late or second answer is dropped.
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
from loganalyst.processes.crew import Crew
from loganalyst.processes.crewmember import Item, Result
from loganalyst.processes.eachitem import Ready
from loganalyst.store import Store, judgedrows

DEFAULT_SLURM_JOBS = 8
SLURM_JOB_DEFAULTS = {"cores": 1, "memory": "4GB"}  # where the configuration of dask sets nothing
MAX_WAIT_S = 60.0  # for the first worker of a scheduler; a SLURM queue has no limit
ITEMS_PER_THREAD = 2  # items submitted per worker thread: the current one, and the next one
WORKER_POLL_S = 5.0  # seconds between two counts of the workers


class Cluster:
    """Process items on the workers of a dask `client`. Each worker thread uses one process, with its own limits."""

    def __init__(self, client: Any, max_wait: float | None = MAX_WAIT_S) -> None:
        self._client, self._max_wait = client, max_wait  # None: wait for workers without a limit
        self._polled_at, self._seen_at, self._capacity = float("-inf"), time.monotonic(), 0

    def each(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item | Ready[Result]],
        died: Callable[[Item, str], Result],
        limits: Limits,
    ) -> Iterator[Result]:
        """As `processes.eachitem.each`. If a worker dies, another worker repeats its item. `died` gives the result of
        an item that killed several workers. Raises LogAnalystError if the scheduler goes away.
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
            with suppress(Exception):  # a scheduler that is gone has nothing to cancel
                self._client.cancel(list(busy))
                self._client.run(_dismiss, on_error="ignore")

    def _places(self) -> int:
        """How many items may be submitted. Raises LogAnalystError if all workers are gone for too long."""
        now = time.monotonic()
        if now - self._polled_at > WORKER_POLL_S:
            threads = sum(self._client.nthreads().values())
            self._seen_at = now if threads or self._max_wait is None else self._seen_at
            if now - self._seen_at > (self._max_wait or now):
                raise LogAnalystError(self._client.scheduler.address, "has no workers left", "start `dask worker`")
            self._polled_at, self._capacity = now, ITEMS_PER_THREAD * max(1, threads)
        return self._capacity

    def _done(self, busy: list[Any]) -> Iterable[Any]:
        """Wait until a future is done; return all that are done."""
        from distributed import wait

        while True:
            with suppress(TimeoutError):
                found: Iterable[Any] = wait(busy, timeout=WORKER_POLL_S, return_when="FIRST_COMPLETED").done
                return found
            self._places()

    def _result(self, future: Any, item: Item, died: Callable[[Item, str], Result]) -> Result:
        from distributed import CancelledError, KilledWorker

        try:
            result: Result = future.result()
        except KilledWorker as error:
            return died(item, f"{error.allowed_failures + 1} workers died while they processed it")
        except (CancelledError, OSError) as error:
            raise LogAnalystError(
                self._client.scheduler.address, f"the connection to the cluster was lost ({error})"
            ) from None
        return result


_crews: dict[int, tuple[object, Crew[Any, Any]]] = {}  # of each thread of a worker: what for, and its process


def _attempt(
    function: Callable[[Item], Result], item: Item, died: Callable[[Item, str], Result], seconds: float
) -> Result:
    """On a worker: process an item in a helper process, which later items reuse. Its limits affect no other item."""
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
    """Bytes of this worker's memory that one run may use."""
    from distributed import get_worker

    worker = get_worker()
    return share(worker.memory_manager.memory_limit, worker.state.nthreads)


def _dismiss() -> None:
    """On a worker: stop the processes that were kept for the next items."""
    while _crews:
        with suppress(KeyError):
            _crews.popitem()[1][1].stop()


@contextmanager
def connected(address: str, store: Path, max_wait: float = MAX_WAIT_S) -> Iterator[Cluster]:
    """The workers of the scheduler at `address`, which must see the store.

    Raises LogAnalystError if dask.distributed is not installed, the scheduler does not answer, no worker appears, a
    worker has another version, or a worker does not see the store.
    """
    with _missing("--scheduler", "dask.distributed"):
        from distributed import Client
    try:
        client = Client(address, timeout=max_wait)
    except (OSError, ValueError) as error:
        raise LogAnalystError(address, f"no scheduler answers ({error})", "tcp://HOST:8786 is the usual form") from None
    with client:
        _check_workers(client, store, max_wait)
        yield Cluster(client)


@contextmanager
def slurm(jobs: int | None, store: Path) -> Iterator[Cluster]:
    """Workers in `jobs` SLURM jobs, which are cancelled afterwards. The configuration of dask (`jobqueue.slurm`) sets
    the queue, account, memory and time of a job. Raises LogAnalystError as `connected`, and if no job can be submitted.
    """
    with _missing("--slurm", "dask-jobqueue"):
        import dask
        from dask_jobqueue import SLURMCluster
        from distributed import Client
    options = {
        name: dask.config.get(f"jobqueue.slurm.{name}", None) or value for name, value in SLURM_JOB_DEFAULTS.items()
    }
    with ExitStack() as stack:
        try:
            started = stack.enter_context(SLURMCluster(**options))
            count = jobs or DEFAULT_SLURM_JOBS
            started.adapt(minimum_jobs=count, maximum_jobs=count)  # replaces a job that ends
            client = stack.enter_context(Client(started))
            _check_workers(client, store, None)
        except (OSError, RuntimeError, ValueError) as error:
            raise LogAnalystError("SLURM", f"no workers can be started ({error})", "see docs/scaling.md") from None
        yield Cluster(client, None)


@contextmanager
def _missing(option: str, package: str) -> Iterator[None]:
    try:
        yield
    except ImportError:
        raise LogAnalystError(option, f"{package} is not installed", how_to_install("cluster")) from None


def _check_workers(client: Any, store: Path, max_wait: float | None) -> None:
    """Wait for a worker; check that all workers have our version and see the store."""
    address = client.scheduler.address
    try:
        client.wait_for_workers(1, timeout=max_wait)
    except TimeoutError:
        raise LogAnalystError(address, f"no worker within {max_wait:g} s", "start `dask worker` for it") from None
    Store(store).ingest([])  # creates the missing folders
    probe = store / "tmp" / f"seen-{uuid4().hex}"
    probe.touch()
    answers = client.run(_facts, str(probe.absolute()), on_error="return")
    probe.unlink(missing_ok=True)
    for worker, facts in answers.items():
        if isinstance(facts, BaseException):
            raise LogAnalystError(worker, f"cannot do this work ({facts})", "install loganalyst for its Python")
        version, sees = facts
        if version != judgedrows.version():
            raise LogAnalystError(worker, f"has version {version}", f"{judgedrows.version()} is needed, as here")
        if not sees:
            raise LogAnalystError(
                worker, f"does not see the store {store}", "a folder that all machines share is needed"
            )


def _facts(probe: str) -> tuple[str, bool]:
    """On a worker: the version of its program and rules, and whether it sees the file `probe` of the store."""
    return judgedrows.version(), os.path.exists(probe)
