"""Work on millions of numbers through several threads: numpy and polars let go of Python's lock in their loops."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from loganalyst.limits import processors, spare

Item = TypeVar("Item")
Result = TypeVar("Result")

WORTH = 200_000  # values from which threads gain more than they take from one another


def side_by_side(function: Callable[[Item], Result], items: Iterable[Item], *, values: int) -> list[Result]:
    """What `function`, which changes nothing that its other calls read, gives for each of the items, in their order;
    `values` is how many numbers it looks at in all.
    """
    if values < WORTH or not spare():
        return [function(item) for item in items]
    with ThreadPoolExecutor(processors()) as pool:
        return list(pool.map(function, items))
