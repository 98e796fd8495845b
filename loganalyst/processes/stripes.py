"""Work on a sequence that this process shares with workers: each does every n-th item."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

from loganalyst.processes.worker import DiedError

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_stripes(
    items: Sequence[Item],
    ways: int,
    here: Callable[[Item], Result],
    elsewhere: Callable[[Sequence[Item]], Iterator[Result]],
) -> list[Result]:
    """The result of each item, in their order: of every `ways`-th one by `here`, of the others by `elsewhere`, which is
    called with its share in a thread and yields one result after another. Items whose worker died are done here.
    """
    stripes = [items[way::ways] for way in range(ways)]
    with ThreadPoolExecutor(max(ways - 1, 1)) as pool:
        others = [pool.submit(_until_death, elsewhere(stripe)) for stripe in stripes[1:]]
        found = [[here(item) for item in stripes[0]], *(other.result() for other in others)]
    for done, stripe in zip(found, stripes, strict=True):
        done.extend(here(item) for item in stripe[len(done) :])
    return [found[i % ways][i // ways] for i in range(len(items))]


def _until_death(results: Iterator[Result]) -> list[Result]:
    """The results that came before the worker died."""
    found: list[Result] = []
    with suppress(DiedError):
        for result in results:
            found.append(result)  # noqa: PERF402 - list(results) would lose them
    return found
