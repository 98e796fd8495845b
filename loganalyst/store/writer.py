"""Opens a store for writing: the folder is made, the lock is held, and damage is repaired first."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from loganalyst import guard
from loganalyst.errors import LogAnalystError, StoreError
from loganalyst.processes.crewmember import NotStartedError
from loganalyst.store import lock
from loganalyst.store.healing import heal
from loganalyst.store.state import State, opened
from loganalyst.store.tablefiles import Folder

PATIENCE = 600.0  # seconds to wait for another process that writes


class Writer:
    """Writes in the store at `path`, and adds damage that it finds to `faults`. Raises OSError.

    `lost`: the runs whose rows were damaged when the store was opened last.
    """

    def __init__(self, path: Path, patience: float, faults: list[str]) -> None:
        self.path, self.patience, self.faults = path, patience, faults
        self.network = lock.on_network(path)
        self.lost = set[str]()

    def make(self) -> None:
        """Make the folder if there is none. Raises StoreError where it lies in a run, or cannot be made."""
        try:
            guard.check([self.path])
        except LogAnalystError as error:
            raise StoreError(error.where, error.what, error.allowed) from None
        with store_errors(self.path):
            self.path.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def writing(self, folder: Folder, patience: float | None = None) -> Iterator[State]:
        """Hold the lock, for at most `patience` seconds of waiting. Unfinished work of other processes is removed, and
        damage is repaired.
        """
        self.make()
        with (
            store_errors(self.path),
            lock.writing(self.path, self.patience if patience is None else patience),
            opened(self.path, network=self.network) as state,
        ):
            folder.clear()
            damaged = self._heal(folder, state)
            yield state
            if damaged:  # segments whose runs were read again are no longer needed
                self._heal(folder, state)

    def _heal(self, folder: Folder, state: State) -> bool:
        """Repair damage. Whether there was any."""
        found = heal(folder, state.places, state.forget)
        self.lost = found.lost
        state.forget_runs(found.gone)  # a run that comes back unchanged is read again
        if state.renewed:
            found.faults.append(f"{self.path / 'state.sqlite'}: was damaged: every run is read again")
            state.renewed = False
        self.faults += [fault for fault in found.faults if fault not in self.faults]
        return bool(found.faults)


@contextmanager
def store_errors(path: Path) -> Iterator[None]:
    """Inside, every error that keeps the store from being used becomes a StoreError."""
    try:
        yield
    except NotStartedError as error:
        raise StoreError(path, str(error), "or read with one process") from None
    except (OSError, sqlite3.Error) as error:
        raise StoreError(path, f"cannot be used as a store ({error})", "a folder that can be written") from None
