"""Workers of an audit that are this process: a process of its own takes two seconds to start, and shows no more."""

import os
import pickle
from collections.abc import Callable
from typing import Any, Generic
from unittest import mock

from loganalyst.limits import WORKER, Limits
from loganalyst.processes.crewmember import Item, Result


class CrewHere(Generic[Item, Result]):
    """As `processes.crew.Crew`, but without limits: items and results are pickled, and a defect costs its item only."""

    def __init__(
        self, function: Callable[[Item], Result], died: Callable[[Item, str], Result], limits: Limits, size: int = 1
    ) -> None:
        self.function, self.died = function, died
        self.busy: list[bytes] = []

    def start(self, item: Item) -> None:
        """Keep an item as it would be sent."""
        self.busy.append(pickle.dumps((self.function, item)))

    def next(self) -> Result:
        """The result of the item that has waited longest, as it would come back."""
        function, item = pickle.loads(self.busy.pop(0))
        try:
            with mock.patch.dict(os.environ, {WORKER: "1"}):
                result: Any = pickle.loads(pickle.dumps(function(item)))
        except Exception as error:
            result = self.died(item, f"failed ({type(error).__name__}: {error})")
        return result  # type: ignore[no-any-return]

    def stop(self) -> None:
        """Nothing to end."""
