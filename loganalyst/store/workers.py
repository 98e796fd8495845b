"""A function over many items in several processes, of which any may die: that costs the item it was at."""

import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic, TypeVar

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

    def give(self, item: Item) -> None:
        """Let it do this next."""
        with suppress(OSError):  # it died; that shows when its answer is waited for
            self.pipe.send(item)

    def answer(self) -> Any:
        """Of the item it was given. Raises EOFError or OSError where it died, NotStartedError where it never began."""
        try:
            if not self.started:
                self.started = self.pipe.recv()
        except (EOFError, OSError):
            raise NotStartedError(NOT_STARTED) from None
        return self.pipe.recv()

    def end(self) -> str:
        """Why it gave no answer; it is gone then."""
        self.pipe.close()
        self.process.join()
        code = self.process.exitcode or 0
        return f"the process that read it died ({f'signal {-code}' if code < 0 else f'exit code {code}'})"

    def stop(self) -> None:
        """Whatever it is at is lost."""
        self.process.terminate()
        self.process.join()


@dataclass(frozen=True)
class Ready(Generic[Result]):
    """An item whose result is known already."""

    value: Result


def each(
    function: Callable[[Item], Result],
    items: Iterable[Item | Ready[Result]],
    processes: int,
    died: Callable[[Item, str], Result],
) -> Iterator[Result]:
    """`function` of each item, in the order they are done; `died(item, why)` where its process did.

    Items are taken as they are needed, one of them ahead. With one process it is this one. Programs that ask for more
    must not do so while they are imported (``if __name__ == "__main__":``), for the processes import them too. Raises
    NotStartedError where a process cannot be started.
    """
    if processes < 2:
        yield from (item.value if isinstance(item, Ready) else function(item) for item in items)
        return
    idle: list[_Worker[Item]] = []
    busy: dict[Connection, tuple[_Worker[Item], Item]] = {}
    left = iter(items)

    def start(item: Item) -> None:
        worker = idle.pop() if idle else _Worker(function)
        busy[worker.pipe] = (worker, item)
        worker.give(item)

    item = next(left, None)
    try:
        while busy or item is not None:
            if isinstance(item, Ready):
                yield item.value
            elif item is not None and len(busy) < processes:
                start(item)
            else:
                pipe = next(p for p in wait(list(busy)) if isinstance(p, Connection))
                worker, done = busy.pop(pipe)
                try:
                    result: Result = worker.answer()
                    idle.append(worker)
                except (EOFError, OSError):
                    result = died(done, worker.end())
                if item is not None:  # taken before: the process does not wait until the result was looked at
                    start(item)
                yield result
            item = next(left, None)
    finally:
        for worker in [*idle, *(worker for worker, _ in busy.values())]:
            worker.stop()


def _work(function: Callable[[Any], Any], pipe: Connection) -> None:
    with suppress(EOFError, OSError, KeyboardInterrupt):  # whoever started us is gone, or stops
        pipe.send(True)
        while True:
            pipe.send(function(pipe.recv()))


@contextmanager
def _environment() -> Iterator[None]:
    """Processes started in here have `ENVIRONMENT`."""
    before = dict(os.environ)
    os.environ.update(ENVIRONMENT)
    try:
        yield
    finally:
        for name in ENVIRONMENT:
            os.environ.pop(name)
            if name in before:
                os.environ[name] = before[name]
