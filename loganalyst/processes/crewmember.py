"""A worker of a crew: it does one item at a time, and each item has limits of time and memory."""

import os
import time
from collections.abc import Callable
from math import inf
from typing import TypeVar

from loganalyst.limits import Limits
from loganalyst.processes.worker import DiedError, Worker, load

Item = TypeVar("Item")
Result = TypeVar("Result")

# Of processes that share the work: polars uses one thread each, and glibc keeps freed memory for the next item (to ask
# the system for it again costs each of several processes a tenth of its time).
SHARING = {
    "POLARS_MAX_THREADS": "1",
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(64 << 20),
}


class NotStartedError(RuntimeError):
    """A worker ended before it got its first item."""


class Member:
    """A worker of a crew, and since when it has been at its item."""

    def __init__(self) -> None:
        self.worker = Worker(SHARING)
        self.started, self.since = False, inf

    def answer(self, function: Callable[[Item], Result], item: Item) -> Result:
        """The function of the item. Raises DiedError, NotStartedError."""
        if not self.started:  # importing is no part of the item's time
            try:
                list(self.worker.stream(load.__module__, load.__name__, function.__module__))
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


def _resident(process: int) -> int:
    """Bytes of memory that the process holds; 0 where the system does not say."""
    try:
        with open(f"/proc/{process}/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return 0
