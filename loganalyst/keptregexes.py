"""Threads that keep the regexes of polars. It keeps the last 32 of each thread, and a log is read with a hundred: each
would be built again for every batch and log, which takes a millisecond or more, and many times longer than to run it on
a short text.
"""

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import ParamSpec, TypeVar

import polars as pl

P = ParamSpec("P")
R = TypeVar("R")

FEW_ROWS = 5000  # of longer texts, several threads may ask at once
_threads: dict[str, ThreadPoolExecutor] = {}
_here = threading.local()
os.register_at_fork(after_in_child=_threads.clear)  # a copy of the process has only the thread that made it


def keeps_regexes(thread: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A function of few texts runs in the thread of this name; those of one name have fewer than 32 regexes together.

    >>> import polars as pl, threading
    >>> @keeps_regexes("digits")
    ... def thread_of(text: pl.Series) -> str:
    ...     return threading.current_thread().name
    >>> thread_of(pl.Series(["a1"])), thread_of(pl.Series(["a1"] * 5001))
    ('digits_0', 'MainThread')
    """

    def kept(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def there(*args: P.args, **kwargs: P.kwargs) -> R:
            if hasattr(_here, "own") or any(isinstance(a, pl.Series) and len(a) > FEW_ROWS for a in args):
                return function(*args, **kwargs)
            try:
                result = _thread(thread).submit(function, *args, **kwargs)
            except RuntimeError:  # no more threads can be started, or Python ends
                return function(*args, **kwargs)
            return result.result()

        return there

    return kept


def _thread(name: str) -> ThreadPoolExecutor:
    found = _threads.get(name)
    return found or _threads.setdefault(name, ThreadPoolExecutor(1, name, initializer=_mark))


def _mark() -> None:
    """Within such a thread nothing waits for another one."""
    _here.own = True
