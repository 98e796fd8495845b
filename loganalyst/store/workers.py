"""A function over many items in several processes, of which any may die: that costs the item it was at."""

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from math import inf
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from loganalyst.limits import Limits

Item = TypeVar("Item")
Result = TypeVar("Result")
# one thread of polars each; memory that was freed is kept for the next item (glibc): to ask the system for it again
# costs each process a tenth of its time when several do
ENVIRONMENT = {
    "POLARS_MAX_THREADS": "1",
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(64 << 20),
}
NOT_STARTED = (
    "further processes cannot be started: the program must be a file, "
    "and do its work below `if __name__ == '__main__':`"
)


LOOK = 0.5  # seconds between two looks at how much memory processes hold


class NotStartedError(RuntimeError):
    """A process came to its end before it was given its first item."""


class _Worker(Generic[Item]):
    """A process that does one item after another. It is started anew ("spawn"): a fork of a process with threads, as
    polars has them, may hang.
    """

    def __init__(self, function: Callable[[Item], Any]) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process: BaseProcess = context.Process(target=_work, args=(function, theirs), daemon=True)
        with _environment():
            self.process.start()
        theirs.close()
        self.started = False
        self.since = inf

    def give(self, item: Item) -> None:
        """Let it do this next."""
        self.since = time.monotonic()
        with suppress(OSError):  # it died; that shows when its answer is waited for
            self.pipe.send(item)

    def answers(self) -> bool:
        """Whether what waits to be heard is an answer: its first word is that it has started. Raises NotStartedError
        where it never did.
        """
        if self.started:
            return True
        try:
            self.started = self.pipe.recv()
        except (EOFError, OSError):
            raise NotStartedError(NOT_STARTED) from None
        self.since = time.monotonic()
        return False

    def answer(self) -> Any:
        """Of the item it was given. Raises EOFError or OSError where it died."""
        return self.pipe.recv()

    def end(self) -> str:
        """Why it gave no answer; it is gone then."""
        self.pipe.close()
        self.process.join()
        code = self.process.exitcode or 0
        return f"the process that read it died ({f'signal {-code}' if code < 0 else f'exit code {code}'})"

    def over(self, limits: Limits) -> str | None:
        """Which limit its item has gone over, None where none. A process that goes over one is ended."""
        held = _resident(self.process.pid)
        if self.started and time.monotonic() - self.since > limits.seconds:  # to start is no part of the item
            why = f"took longer than {limits.seconds:g} s, and was given up"
        elif held > limits.memory:
            why = f"took more than {limits.memory / (1 << 20):,.0f} MiB of memory, and was given up"
        else:
            return None
        self.stop()
        return why

    def stop(self) -> None:
        """Whatever it is at is lost."""
        self.process.kill()
        self.process.join()
        self.pipe.close()


def _resident(process: int | None) -> int:
    """Bytes of memory the process holds; 0 where the system does not tell."""
    try:
        with open(f"/proc/{process}/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return 0


class Ready(NamedTuple, Generic[Result]):
    """An item whose result is known already."""

    value: Result


class Workers(Protocol):
    """Whoever does items in place of processes of this machine."""

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
    """`function` of each item, in the order they are done; `died(item, why)` where its process did.

    Items are taken as they are needed, one of them ahead. With one process it is this one, unless there are `limits`:
    an item that goes over them costs its process. `workers` do the work in place of processes of ours. Programs that
    ask for other processes must not do so while they are imported (``if __name__ == "__main__":``), for the processes
    import them too. Raises NotStartedError where a process cannot be started.
    """
    if workers is not None:
        yield from workers.each(function, items, died, limits or Limits())
        return
    if processes < 2 and limits is None:
        yield from (item.value if isinstance(item, Ready) else function(item) for item in items)
        return
    crew = Processes(function, died, limits or Limits())
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
                if item is not None:  # taken before: the process does not wait until the result was looked at
                    crew.start(item)
                yield result
            item = next(left, None)
    finally:
        crew.stop()


class Processes(Generic[Item, Result]):
    """Processes that are at an item each, or wait for one."""

    def __init__(self, function: Callable[[Item], Result], died: Callable[[Item, str], Result], limits: Limits) -> None:
        self.function, self.died, self.limits = function, died, limits
        self.idle: list[_Worker[Item]] = []
        self.busy: dict[Connection, tuple[_Worker[Item], Item]] = {}

    def start(self, item: Item) -> None:
        """Give an item to a process that waits, or to a new one."""
        worker = self.idle.pop() if self.idle else _Worker(self.function)
        self.busy[worker.pipe] = (worker, item)
        worker.give(item)

    def next(self) -> Result:
        """The next result."""
        while True:
            ready = wait(list(self.busy), None if self.limits == Limits() else LOOK)
            for pipe in (p for p in ready if isinstance(p, Connection)):
                if self.busy[pipe][0].answers():
                    return self._result(*self.busy.pop(pipe))
            for pipe, (worker, item) in list(self.busy.items()):
                if why := worker.over(self.limits):
                    del self.busy[pipe]
                    return self.died(item, why)

    def _result(self, worker: _Worker[Item], item: Item) -> Result:
        try:
            result: Result = worker.answer()
        except (EOFError, OSError):
            return self.died(item, worker.end())
        self.idle.append(worker)
        return result

    def stop(self) -> None:
        """End them all."""
        for worker in [*self.idle, *(worker for worker, _ in self.busy.values())]:
            worker.stop()


def _work(function: Callable[[Any], Any], pipe: Connection) -> None:
    with suppress(EOFError, OSError, KeyboardInterrupt):  # whoever started us is gone, or stops
        pipe.send(True)
        while True:
            pipe.send(function(pipe.recv()))


@contextmanager
def _environment() -> Iterator[None]:
    """Processes started in here have `ENVIRONMENT`, and leave Ctrl-C to this one, which ends them."""
    before = dict(os.environ)
    os.environ.update(ENVIRONMENT)
    masks = hasattr(signal, "pthread_sigmask")  # not on Windows
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if masks else set()
    try:
        yield
    finally:
        if masks:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for name in ENVIRONMENT:
            os.environ.pop(name)
            if name in before:
                os.environ[name] = before[name]
