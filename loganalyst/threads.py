"""Work on millions of numbers in several threads: numpy and polars release Python's lock in their loops."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from loganalyst.limits import processors, spare

Item = TypeVar("Item")
Result = TypeVar("Result")

MIN_VALUES = 200_000  # below, threads cost more than they gain
MAX_VALUES_AT_ONCE = 8 << 20  # in all threads together: each value takes some 60 bytes for a while


def side_by_side(
    function: Callable[[Item], Result], items: Iterable[Item], *, values: int, largest: int = 1
) -> list[Result]:
    """The result of `function` for each item, in the order of the items. No call may change what another one reads.

    `values` is the number of values that all calls read, and `largest` the largest number that one call processes at
    once.
    """
    threads = thread_count(values, largest)
    if threads < 2:
        return [function(item) for item in items]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, items))


def thread_count(values: int, largest: int = 1) -> int:
    """How many threads are worth their cost; arguments as of `side_by_side`."""
    if values < MIN_VALUES or not spare():
        return 1
    return min(processors(), MAX_VALUES_AT_ONCE // max(largest, 1))
