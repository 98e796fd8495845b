"""A crew: several workers, each at an item of its own, which may be kept for the next crew."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from typing import Generic

from loganalyst.limits import Limits
from loganalyst.processes.crewmember import Item, Member, NotStartedError, Result
from loganalyst.processes.worker import DiedError, Worker

MEMORY_CHECK_SECONDS = 0.5  # between two looks at the memory that workers hold
_kept: ContextVar[list[Member] | None] = ContextVar("kept", default=None)


class Crew(Generic[Item, Result]):
    """Up to `size` workers, each at an item or waiting for one. A thread waits for the answer of each."""

    def __init__(
        self, function: Callable[[Item], Result], died: Callable[[Item, str], Result], limits: Limits, size: int = 1
    ) -> None:
        self.function, self.died, self.limits = function, died, limits
        self.idle: list[Member] = []
        self.busy: dict[Future[Result], tuple[Member, Item]] = {}
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

    def _result(self, future: Future[Result], member: Member, item: Item) -> Result:
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


@contextmanager
def kept() -> Iterator[None]:
    """Workers that are idle at the end of one `each` in here serve the next one, and end with the context: a process
    takes as long to start as a short run to read.
    """
    idle: list[Member] = []
    before = _kept.set(idle)
    try:
        yield
    finally:
        _kept.reset(before)
        _end([member.worker for member in idle])


def _joining() -> Member:
    """A kept worker, or a new one."""
    members = _kept.get() or []
    while members:
        if (member := members.pop()).worker.is_alive:
            return member
        member.worker.end()
    return Member()


def _end(workers: Sequence[Worker]) -> None:
    """End all at once, and wait for them."""
    for worker in workers:
        worker.kill()
    for worker in workers:
        worker.end()
