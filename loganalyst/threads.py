"""Work on millions of numbers through several threads: numpy and polars let go of Python's lock in their loops."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from loganalyst.limits import processors, spare

Item = TypeVar("Item")
Result = TypeVar("Result")

WORTH = 200_000  # values from which threads gain more than they take from one another
AT_ONCE = 8 << 20  # values that all threads together look at: each of them takes some 60 bytes for a while


def side_by_side(
    function: Callable[[Item], Result], items: Iterable[Item], *, values: int, largest: int = 1
) -> list[Result]:
    """What `function`, which changes nothing that its other calls read, gives for each of the items, in their order;
    `values` is how many numbers it looks at in all, `largest` how many one call makes something of at once.
    """
    threads = min(processors(), AT_ONCE // max(largest, 1))
    if values < WORTH or threads < 2 or not spare():
        return [function(item) for item in items]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, items))
