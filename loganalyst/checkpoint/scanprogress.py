"""How far a long look is: told to whoever watches, tensor by tensor."""

from collections.abc import Callable
from dataclasses import dataclass

Watch = Callable[[int, int], object]  # of those done, of all


@dataclass
class Steps:
    """Counts what is done of `total`."""

    total: int
    watch: Watch | None = None
    done: int = 0

    def one(self) -> None:
        """One more is done."""
        self.done += 1
        if self.watch:
            self.watch(self.done, self.total)
