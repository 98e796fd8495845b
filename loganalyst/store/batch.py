"""Results that are written to the store together: a write costs some syncs of the disk, however many runs it holds."""

import time
from collections.abc import Callable
from types import TracebackType
from typing import Generic, TypeVar

Result = TypeVar("Result")

MAX_BATCH_RUNS = 1000
MAX_BATCH_SECONDS = 5.0


class Batch(Generic[Result]):
    """Collects results, and calls `write` with them once they are many or old, and at the end of its `with` block."""

    def __init__(
        self,
        write: Callable[[list[Result]], object],
        max_runs: int = MAX_BATCH_RUNS,
        max_seconds: float = MAX_BATCH_SECONDS,
    ) -> None:
        self._write, self._max_runs, self._max_seconds = write, max_runs, max_seconds
        self._results: list[Result] = []
        self._since = time.monotonic()

    def add(self, result: Result) -> None:
        """Collect a result."""
        self._results.append(result)

    def write_if_due(self) -> None:
        """Write the results if there are many, or the last write is some seconds ago."""
        if len(self._results) >= self._max_runs or time.monotonic() - self._since > self._max_seconds:
            self._flush()

    def _flush(self) -> None:
        results, self._results, self._since = self._results, [], time.monotonic()
        if results:
            self._write(results)

    def __enter__(self) -> "Batch[Result]":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._flush()
