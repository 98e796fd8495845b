"""Worker processes: a generator, or a function over many items, runs in processes that may die.

A worker is a fresh interpreter, started by its path. A fork of a process with threads, as polars has them, may hang;
`multiprocessing` would run the user's program a second time. Requests and answers are pickled messages on the worker's
standard input and output. Code that a worker calls may end it: that costs only the request in hand.
"""

import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from importlib import import_module
from math import inf
from pathlib import Path
from threading import Lock
from typing import IO, Any, Generic, NamedTuple, Protocol, TypeVar

from loganalyst.limits import WORKER, Limits

if sys.platform == "linux":
    import fcntl

Item = TypeVar("Item")
Result = TypeVar("Result")

# Of processes that share the work: polars uses one thread each, and glibc keeps freed memory for the next item (to ask
# the system for it again costs each of several processes a tenth of its time).
SHARING = {
    "POLARS_MAX_THREADS": "1",
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(64 << 20),
}
MEMORY_CHECK_SECONDS = 0.5  # between two looks at the memory that workers hold
EXIT_SECONDS = 1.0  # that a worker gets to end by itself
_LENGTH_BYTES = 8  # before each message
_PIPE_BYTES = 1 << 20  # holds most messages, so that the worker goes on while the reader is busy
_HOME = str(Path(__file__).parents[1])  # the folder that this package lies in
_START = "from loganalyst.processes import serve; serve()"


class DiedError(Exception):
    """A worker ended before it answered; the message is its signal or exit code."""


class NotStartedError(RuntimeError):
    """A worker ended before it got its first item."""


class Worker:
    """One process, which answers one request at a time."""

    def __init__(self, environment: dict[str, str] | None = None, *, quiet: bool = False) -> None:
        # It finds modules where this process does, but nothing in the working directory (-P), which may be a run
        paths = [path for path in sys.path if path]
        if _HOME not in paths:  # as in a checkout that is not installed
            paths.insert(0, _HOME)
        with _ctrl_c_blocked():
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _START],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL if quiet else None,
                env={**os.environ, **(environment or {}), "PYTHONPATH": os.pathsep.join(paths), WORKER: "1"},
            )
        self.pid = self._process.pid
        self.free = True  # no answer is due
        if sys.platform == "linux" and self._process.stdout:
            with suppress(OSError):  # a user without privileges may enlarge a limited number of pipes
                fcntl.fcntl(self._process.stdout, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)

    def stream(self, module: str, function: str, *arguments: Any) -> Iterator[Any]:
        """The items that a generator function yields there. Raises its exceptions, and DiedError where the process
        ends. A worker that is not `free` afterwards must be ended.
        """
        self.free = False
        with suppress(BrokenPipeError):  # it died, which reading its answer shows
            _send(self._process.stdin, (module, function, arguments))
        while (message := _receive(self._process.stdout)) is not None:
            kind, value = message
            self.free = kind != "item"
            if kind == "end":
                return
            if kind == "error":
                raise value
            yield value
        code = self.end()
        raise DiedError(f"signal {-code}" if code < 0 else f"exit code {code}")

    def end(self) -> int:
        """Close its pipes, and kill it if it does not end by itself; its exit code."""
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                if pipe:
                    pipe.close()
        try:
            return self._process.wait(EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            return self._process.wait()

    @property
    def is_alive(self) -> bool:
        """Whether its process runs."""
        return self._process.poll() is None

    def kill(self) -> None:
        """End it at once; a caller that waits for its answer gets a DiedError."""
        self._process.kill()


def serve() -> None:
    """What a worker does: answer one request after another, until its standard input is closed."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # anything else that is printed is no message
    while (request := _receive(sys.stdin.buffer)) is not None:
        module, function, arguments = request
        try:
            for item in getattr(import_module(module), function)(*arguments):
                _send(out, ("item", item))
            _send(out, ("end", None))
        except BrokenPipeError:  # the reader is gone
            return
        except Exception as error:
            _send(out, ("error", error))


def load(module: str) -> tuple[()]:
    """Import a module, and yield nothing: later requests for it start at once."""
    import_module(module)
    return ()


def _send(pipe: IO[bytes] | None, message: object) -> None:
    assert pipe
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    pipe.write(len(data).to_bytes(_LENGTH_BYTES, "little"))
    pipe.write(data)
    pipe.flush()


def _receive(pipe: IO[bytes] | None) -> Any:
    """The next message; None at the end of the pipe."""
    assert pipe
    if len(head := pipe.read(_LENGTH_BYTES)) < _LENGTH_BYTES:
        return None
    data = pipe.read(size := int.from_bytes(head, "little"))
    return pickle.loads(data) if len(data) == size else None


@contextmanager
def _ctrl_c_blocked() -> Iterator[None]:
    """Processes started in here do not see Ctrl-C: this process ends them."""
    blocks = hasattr(signal, "pthread_sigmask")  # not on Windows
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if blocks else set()
    try:
        yield
    finally:
        if blocks:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


_idle: list[Worker] = []  # workers of `stream` that wait for the next request
_lock = Lock()


def stream(module: str, function: str, *arguments: Any) -> Iterator[Any]:
    """The items that the generator `function` of `module` yields for `arguments`, in a process of its own: libraries
    that it calls may end the process on damaged bytes. The process is kept for the next call.

    Raises the exceptions of the generator, and DiedError if its process ends; earlier items were yielded.
    """
    with _lock:
        worker = _idle.pop() if _idle else Worker(quiet=True)
    try:
        yield from worker.stream(module, function, *arguments)
    finally:
        if worker.free:
            with _lock:
                _idle.append(worker)
        else:
            worker.end()


def in_stripes(
    items: Sequence[Item],
    ways: int,
    here: Callable[[Item], Result],
    elsewhere: Callable[[Sequence[Item]], Iterator[Result]],
) -> list[Result]:
    """The result of each item, in their order: of every `ways`-th one by `here`, of the others by `elsewhere`, which is
    called with its share in a thread and yields one result after another. Items whose worker died are done here.
    """
    stripes = [items[way::ways] for way in range(ways)]
    with ThreadPoolExecutor(max(ways - 1, 1)) as pool:
        others = [pool.submit(_until_death, elsewhere(stripe)) for stripe in stripes[1:]]
        found = [[here(item) for item in stripes[0]], *(other.result() for other in others)]
    for done, stripe in zip(found, stripes, strict=True):
        done.extend(here(item) for item in stripe[len(done) :])
    return [found[i % ways][i // ways] for i in range(len(items))]


def _until_death(results: Iterator[Result]) -> list[Result]:
    """The results that came before the worker died."""
    found: list[Result] = []
    with suppress(DiedError):
        for result in results:
            found.append(result)  # noqa: PERF402 - list(results) would lose them
    return found


class Ready(NamedTuple, Generic[Result]):
    """An item whose result is known already."""

    value: Result


class Workers(Protocol):
    """Machines that do items in place of processes of this machine."""

    def each(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item | Ready[Result]],
        died: Callable[[Item, str], Result],
        limits: Limits,
    ) -> Iterator[Result]:
        """As `each` below."""


def each(
    function: Callable[[Item], Result],
    items: Iterable[Item | Ready[Result]],
    processes: int,
    died: Callable[[Item, str], Result],
    limits: Limits | None = None,
    *,
    workers: Workers | None = None,
) -> Iterator[Result]:
    """`function` (of a module) of each item, in the order they are done; `died(item, why)` where its process died.

    Items are taken as they are needed, one of them ahead. With one process it is this one, unless there are `limits`:
    an item that exceeds them costs its process. `workers` do the work in place of our processes. Raises
    NotStartedError where a process cannot be started.
    """
    if workers is not None:
        yield from workers.each(function, items, died, limits or Limits())
        return
    if processes < 2 and limits is None:
        yield from (item.value if isinstance(item, Ready) else function(item) for item in items)
        return
    crew = Crew(function, died, limits or Limits(), processes)
    left = iter(items)
    item = next(left, None)
    try:
        while crew.busy or item is not None:
            if isinstance(item, Ready):
                yield item.value
            elif item is not None and len(crew.busy) < processes:
                crew.start(item)
            else:
                result = crew.next()
                if item is not None:  # before the result is yielded: the process does not wait for the caller
                    crew.start(item)
                yield result
            item = next(left, None)
    finally:
        crew.stop()


@contextmanager
def kept() -> Iterator[None]:
    """Workers that are idle at the end of one `each` in here serve the next one, and end with the context: a process
    takes as long to start as a short run to read.
    """
    idle: list[_Member] = []
    before = _kept.set(idle)
    try:
        yield
    finally:
        _kept.reset(before)
        _end([member.worker for member in idle])


def _end(workers: Sequence[Worker]) -> None:
    """End all at once, and wait for them."""
    for worker in workers:
        worker.kill()
    for worker in workers:
        worker.end()


class _Member:
    """A worker of a crew, and since when it has been at its item."""

    def __init__(self) -> None:
        self.worker = Worker(SHARING)
        self.started, self.since = False, inf

    def answer(self, function: Callable[[Item], Result], item: Item) -> Result:
        """The function of the item. Raises DiedError, NotStartedError."""
        if not self.started:  # importing is no part of the item's time
            try:
                list(self.worker.stream(__name__, "load", function.__module__))
            except DiedError as error:
                raise NotStartedError(f"further processes cannot be started ({error})") from None
            self.started = True
        self.since = time.monotonic()
        (result,) = self.worker.stream("builtins", "map", function, [item])
        found: Result = result
        return found

    def exceeded(self, limits: Limits) -> str | None:
        """The limit that its item exceeds, in words; None: none."""
        if time.monotonic() - self.since > limits.seconds:
            return f"took longer than {limits.seconds:g} s, and was given up"
        if _resident(self.worker.pid) > limits.memory:
            return f"took more than {limits.memory / (1 << 20):,.0f} MiB of memory, and was given up"
        return None


_kept: ContextVar[list[_Member] | None] = ContextVar("kept", default=None)


def _joining() -> _Member:
    """A kept worker, or a new one."""
    members = _kept.get() or []
    while members:
        if (member := members.pop()).worker.is_alive:
            return member
        member.worker.end()
    return _Member()


class Crew(Generic[Item, Result]):
    """Up to `size` workers, each at an item or waiting for one. A thread waits for the answer of each."""

    def __init__(
        self, function: Callable[[Item], Result], died: Callable[[Item, str], Result], limits: Limits, size: int = 1
    ) -> None:
        self.function, self.died, self.limits = function, died, limits
        self.idle: list[_Member] = []
        self.busy: dict[Future[Result], tuple[_Member, Item]] = {}
        self._threads = ThreadPoolExecutor(size + 1)  # one more: that of a killed worker may still be ending

    def start(self, item: Item) -> None:
        """Give an item to a worker that waits, or to a new one."""
        member = self.idle.pop() if self.idle else _joining()
        member.since = inf
        self.busy[self._threads.submit(member.answer, self.function, item)] = (member, item)

    def next(self) -> Result:
        """The next result. Raises NotStartedError."""
        while True:
            done = wait(self.busy, None if self.limits == Limits() else MEMORY_CHECK_SECONDS, FIRST_COMPLETED).done
            if done:
                future = done.pop()
                return self._result(future, *self.busy.pop(future))
            for future, (member, item) in list(self.busy.items()):
                if why := member.exceeded(self.limits):
                    del self.busy[future]
                    member.worker.kill()
                    return self.died(item, why)

    def _result(self, future: Future[Result], member: _Member, item: Item) -> Result:
        try:
            result = future.result()
        except DiedError as error:
            return self.died(item, f"the process that read it died ({error})")
        except NotStartedError:
            raise
        except Exception as error:  # a defect of ours costs its item only
            result = self.died(item, f"failed ({type(error).__name__}: {error})")
        if member.worker.free:
            self.idle.append(member)
        else:
            member.worker.end()
        return result

    def stop(self) -> None:
        """End all workers, or keep the idle ones (`kept`); the items in hand are lost."""
        if (members := _kept.get()) is not None:
            for member in self.idle:
                member.started = False  # the next function may be of another module
            members += self.idle
            self.idle = []
        workers = [member.worker for member in [*self.idle, *(member for member, _ in self.busy.values())]]
        for worker in workers:
            worker.kill()
        self._threads.shutdown()
        _end(workers)


def _resident(process: int) -> int:
    """Bytes of memory that the process holds; 0 where the system does not say."""
    try:
        with open(f"/proc/{process}/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return 0
