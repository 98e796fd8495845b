"""Untrusted SQLite files, opened so that no query runs for ever and nothing is written.

A file of 2 MB can hold a tree whose pages refer to one another, so that a scan never ends; SQLite itself has no limit.
Here a query ends if it takes more steps than a sound file of that size needs, gives more rows than the file can hold,
or runs out of time. Ctrl-C ends it too: Python handles signals between its own instructions, so SQLite calls back.
"""

import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

from loganalyst.opening import LEADS_OUT, checked, opened, sibling
from loganalyst.sources.files.address import CHANGE_LOGS

MAX_SECONDS = 60.0  # that SQLite may work on one opened file
BATCH_ROWS = 1 << 17  # of a fetch: Python's tuples take 200 bytes a row
STEPS_PER_CALL = 1000  # of SQLite's virtual machine, between two calls back
MAX_STEPS_PER_BYTE = 8  # a scan takes some 0.3: a row of MLflow has 60 bytes and more, and takes some 15 steps
ALLOWED_STEPS = 2_000_000  # for a file of any size
MIN_ROW_BYTES = 8  # no row of a table with several columns is smaller
MAX_COPY_BYTES = 4 << 30  # of a file and its change logs, that are copied
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 1 << 20,  # bytes of a cell; MLflow's own limit is 8,000 characters
    sqlite3.SQLITE_LIMIT_COLUMN: 200,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_PRAGMAS = ("trusted_schema=OFF", "cell_size_check=ON", "query_only=ON", "cache_size=-16384", "mmap_size=0")
_NAMES_A_FILE = bytes.fromhex(
    "d9d505f920a163d7"
)  # ends a journal that names another journal; SQLite would delete that one


class DamageError(Exception):
    """The file exceeds a limit that no sound file exceeds, or its time."""


class Guarded:
    """A database that is open for reading. `left_out` says which change logs are not read (empty: none)."""

    def __init__(self, connection: sqlite3.Connection, size: int, seconds: float, left_out: str = "") -> None:
        self.connection, self.left_out, self._size = connection, left_out, size
        self._seconds, self._used, self._since = seconds, 0.0, time.monotonic()
        self._calls, self._why = 0, ""
        self._raised: BaseException | None = None
        self._watch = self._watching()
        connection.set_progress_handler(self._watch.__next__, STEPS_PER_CALL)
        for limit, value in _LIMITS.items():
            connection.setlimit(limit, value)
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        for pragma in _PRAGMAS:
            self.rows(f"PRAGMA {pragma}")

    def tables(self, names: Sequence[str]) -> Mapping[str, set[str]]:
        """The plain tables among `names`, with their stored columns: no views, and no computed columns."""
        found = self.rows("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0")
        plain = [name for name in names if (name,) in found]
        return {name: {row[1] for row in self.rows(f"PRAGMA table_xinfo({name})") if row[6] == 0} for name in plain}

    def computed(self, table: str) -> list[str]:
        """The columns of a table whose values are computed when they are read."""
        return [row[1] for row in self.rows(f"PRAGMA table_xinfo({table})") if row[6] != 0]

    def rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """All rows of the answer. Raises sqlite3.Error, DamageError."""
        return [row for batch in self.batches(query, values) for row in batch]

    def batches(
        self, query: str, values: Sequence[object] = (), batch: int = BATCH_ROWS
    ) -> Iterator[list[tuple[Any, ...]]]:
        """The answer in batches of rows; rows before an error are yielded first. Raises as `rows`."""
        count = 0
        with self._working():
            cursor = self.connection.execute(query, values)
        while True:
            rows: list[tuple[Any, ...]] = []
            try:
                with self._working():
                    rows.extend(islice(cursor, batch))
            except (sqlite3.Error, DamageError, UnicodeDecodeError):
                if rows:
                    yield rows
                raise
            if not rows:
                return
            count += len(rows)
            self.check(count)
            yield rows

    def check(self, rows: int, size: float = 0) -> None:
        """Raise DamageError where a file of this size cannot hold this many rows, or cells of this `size`."""
        if rows > self._size // MIN_ROW_BYTES + BATCH_ROWS or size > self._size:
            raise DamageError(f"gives more rows than a file of {self._size:,} bytes can hold")

    @contextmanager
    def _working(self) -> Iterator[None]:
        """Inside, the work of SQLite counts, and is stopped when it exceeds a limit."""
        self._since = time.monotonic()
        try:
            yield
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
                raise
            if self._why:
                raise DamageError(self._why) from None
            raise (self._raised or KeyboardInterrupt) from None  # none if a signal came before the first line
        finally:
            self._used += time.monotonic() - self._since

    def _watching(self) -> Iterator[bool]:
        """Whether to stop, each time SQLite asks. As a generator, a signal's exception is raised inside the `try`."""
        while True:
            try:
                yield self._raised is not None or self._limit_exceeded()
            except Exception as error:  # such as that of an alarm
                self._raised = error
            except KeyboardInterrupt as error:
                self._raised = error

    def _limit_exceeded(self) -> bool:
        self._calls += 1
        if self._calls * STEPS_PER_CALL > ALLOWED_STEPS + MAX_STEPS_PER_BYTE * self._size:
            self._why = f"takes more steps to read than a file of {self._size:,} bytes needs"
        elif self._used + time.monotonic() - self._since > self._seconds:
            self._why = f"takes longer than {self._seconds:g} s to read"
        return bool(self._why)


@contextmanager
def opened_database(path: Path, seconds: float = MAX_SECONDS) -> Iterator[Guarded]:
    """The database at `path`, for at most `seconds` of SQLite's work. If a writer left a change log next to it, a copy
    of both is opened. Raises sqlite3.Error, DamageError, OSError.
    """
    there = [log for end in CHANGE_LOGS if (log := path.with_name(path.name + end)).is_file() and log.stat().st_size]
    logs = [log for log in there if sibling(path, log.name)]
    outside = ", ".join(f"{log.name}: {LEADS_OUT}, its changes are not read" for log in there if log not in logs)
    size = sum(file.stat().st_size for file in (path, *logs))
    with tempfile.TemporaryDirectory(prefix="loganalyst-") as folder:
        refused = _refused(logs, size, shutil.disk_usage(folder).free)
        copied = bool(logs) and not refused
        for file in (path, *logs) if copied else ():
            with opened(file) as changed, Path(folder, file.name).open("wb") as copy:
                shutil.copyfileobj(changed, copy)
        place = Path(folder, path.name) if copied else checked(path).absolute()
        uri = f"file:{quote(str(place))}" + ("" if copied else "?mode=ro&immutable=1")
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            yield Guarded(connection, size, seconds, refused or outside)


def _refused(logs: Sequence[Path], size: int, free: int) -> str:
    """Why change logs are not read; empty if they can be, or there are none."""
    named = ", ".join(log.name for log in logs)
    if logs and size > min(free // 2, MAX_COPY_BYTES):
        return f"{named}: too large to copy, its changes are not read"
    if any(_end(log) == _NAMES_A_FILE for log in logs):
        return f"{named}: names another file, its changes are not read"
    return ""


def _end(log: Path) -> bytes:
    with opened(log) as file:
        file.seek(max(log.stat().st_size - len(_NAMES_A_FILE), 0))
        return file.read(len(_NAMES_A_FILE))
