"""Working one item ahead, in a thread: what reads, scans or computes without Python's lock then takes no time."""

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_Item = TypeVar("_Item")


def ahead(items: Iterator[_Item]) -> Generator[_Item]:
    """The same items; the next one is worked out while the caller uses this one. Raises what `items` raises."""
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = pool.submit(next, items, None)
            yield item
