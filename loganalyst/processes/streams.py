"""A generator that runs in a process of its own, because what it calls may end the process."""

from collections.abc import Iterator
from threading import Lock
from typing import Any

from loganalyst.processes.worker import Worker

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
