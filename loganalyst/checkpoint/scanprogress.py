"""Progress of a long scan, tensor by tensor."""

from collections.abc import Callable
from dataclasses import dataclass

Watch = Callable[[int, int], object]  # receives the numbers done and in total


@dataclass
class Steps:
    """Counts tensors done, of `total`."""

    total: int
    watch: Watch | None = None
    done: int = 0

    def advance(self) -> None:
        """Count advance more tensor as done."""
        self.done += 1
        if self.watch:
            self.watch(self.done, self.total)
