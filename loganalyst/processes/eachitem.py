"""A function of each of many items, done in processes of this machine or by other workers."""

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, NamedTuple, Protocol

from loganalyst.limits import Limits
from loganalyst.processes.crew import Crew
from loganalyst.processes.crewmember import Item, Result


class Ready(NamedTuple, Generic[Result]):
    """An item whose result is known already."""

    value: Result


class Workers(Protocol):
    """Machines that do items in place of processes of this machine."""

    def each(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item | Ready[Result]],
        died: Callable[[Item, str], Result],
        limits: Limits,
    ) -> Iterator[Result]:
        """As `each` below."""


def each(
    function: Callable[[Item], Result],
    items: Iterable[Item | Ready[Result]],
    processes: int,
    died: Callable[[Item, str], Result],
    limits: Limits | None = None,
    *,
    workers: Workers | None = None,
) -> Iterator[Result]:
    """`function` (of a module) of each item, in the order they are done; `died(item, why)` where its process died.

    Items are taken as they are needed, one of them ahead. With one process it is this one, unless there are `limits`:
    an item that exceeds them costs its process. `workers` do the work in place of our processes. Raises
    NotStartedError where a process cannot be started.
    """
    if workers is not None:
        yield from workers.each(function, items, died, limits or Limits())
        return
    if processes < 2 and limits is None:
        yield from (item.value if isinstance(item, Ready) else function(item) for item in items)
        return
    crew = Crew(function, died, limits or Limits(), processes)
    left = iter(items)
    item = next(left, None)
    try:
        while crew.busy or item is not None:
            if isinstance(item, Ready):
                yield item.value
            elif item is not None and len(crew.busy) < processes:
                crew.start(item)
            else:
                result = crew.next()
                if item is not None:  # before the result is yielded: the process does not wait for the caller
                    crew.start(item)
                yield result
            item = next(left, None)
    finally:
        crew.stop()
