"""A SQLite file from elsewhere, opened so that no query runs for ever and nothing is written.

A file of 2 MB can hold a tree whose pages name one another, so that a scan of it never ends; SQLite itself has no
limit. Here a query ends when it took more steps than a sound file of that size needs, gave more rows than the file can
hold, or ran out of time. Ctrl-C ends it too: Python handles signals between its own instructions, so SQLite calls back.
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

from loganalyst.opening import LEADS_OUT, beside, checked, opened
from loganalyst.sources.files.address import LOGS

SECONDS = 60.0  # that SQLite may work on one opened file
BATCH = 1 << 17  # rows of a fetch: Python's tuples take 200 bytes a row
STEPS = 1000  # of SQLite's machine between two calls back
STEPS_OF_A_BYTE = 8  # a scan takes some 0.3: a row of MLflow has 60 bytes and more, and takes some 15 steps
FREE_STEPS = 2_000_000  # of a file of any size
BYTES_OF_A_ROW = 8  # no row of a table with several columns is smaller
MAX_COPY = 4 << 30  # bytes of a file and its logs of changes that are copied
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 1 << 20,  # bytes of a cell; MLflow's own limit is 8,000 characters
    sqlite3.SQLITE_LIMIT_COLUMN: 200,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_PRAGMAS = ("trusted_schema=OFF", "cell_size_check=ON", "query_only=ON", "cache_size=-16384", "mmap_size=0")
_NAMES_A_FILE = bytes.fromhex("d9d505f920a163d7")  # ends a journal that names another one, which SQLite would delete


class DamageError(Exception):
    """The file goes over a limit that no sound file goes over, or over the time it was given."""


class Guarded:
    """A database that is open for reading. `left_out` says which changes beside it are not read (empty: none)."""

    def __init__(self, connection: sqlite3.Connection, size: int, seconds: float, left_out: str = "") -> None:
        self.connection, self.left_out, self._size = connection, left_out, size
        self._seconds, self._used, self._since = seconds, 0.0, time.monotonic()
        self._calls, self._why = 0, ""
        self._raised: BaseException | None = None
        self._watch = self._watching()
        connection.set_progress_handler(self._watch.__next__, STEPS)
        for limit, value in _LIMITS.items():
            connection.setlimit(limit, value)
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        for pragma in _PRAGMAS:
            self.rows(f"PRAGMA {pragma}")

    def tables(self, names: Sequence[str]) -> Mapping[str, set[str]]:
        """Those of `names` that are plain tables, with their stored columns: no view, and nothing that is computed."""
        found = self.rows("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0")
        plain = [name for name in names if (name,) in found]
        return {name: {row[1] for row in self.rows(f"PRAGMA table_xinfo({name})") if row[6] == 0} for name in plain}

    def computed(self, table: str) -> list[str]:
        """The columns of a table whose values are computed whenever they are read."""
        return [row[1] for row in self.rows(f"PRAGMA table_xinfo({table})") if row[6] != 0]

    def rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """All rows of the answer. Raises sqlite3.Error, DamageError."""
        return [row for batch in self.batches(query, values) for row in batch]

    def batches(self, query: str, values: Sequence[object] = (), batch: int = BATCH) -> Iterator[list[tuple[Any, ...]]]:
        """The answer in batches of rows; what came before an error is given first. Raises as `rows`."""
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
        """Raise DamageError where a file of this size holds neither so many rows nor cells of such a `size`."""
        if rows > self._size // BYTES_OF_A_ROW + BATCH or size > self._size:
            raise DamageError(f"gives more rows than a file of {self._size:,} bytes can hold")

    @contextmanager
    def _working(self) -> Iterator[None]:
        """What SQLite does in here counts, and is stopped where it goes over a limit."""
        self._since = time.monotonic()
        try:
            yield
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
                raise
            if self._why:
                raise DamageError(self._why) from None
            raise (self._raised or KeyboardInterrupt) from None  # lost where a signal came before the first line
        finally:
            self._used += time.monotonic() - self._since

    def _watching(self) -> Iterator[bool]:
        """Whether to stop, each time SQLite asks. A generator, for then a signal's exception is raised in the `try`."""
        while True:
            try:
                yield self._raised is not None or self._over()
            except Exception as error:  # such as that of an alarm
                self._raised = error
            except KeyboardInterrupt as error:
                self._raised = error

    def _over(self) -> bool:
        self._calls += 1
        if self._calls * STEPS > FREE_STEPS + STEPS_OF_A_BYTE * self._size:
            self._why = f"takes more steps to read than a file of {self._size:,} bytes needs"
        elif self._used + time.monotonic() - self._since > self._seconds:
            self._why = f"takes longer than {self._seconds:g} s to read"
        return bool(self._why)


@contextmanager
def opened_database(path: Path, seconds: float = SECONDS) -> Iterator[Guarded]:
    """The database at `path`, which SQLite may work on for so many `seconds`; where a writer left a log of changes
    beside it, a copy of both. Raises sqlite3.Error, DamageError, OSError.
    """
    there = [log for end in LOGS if (log := path.with_name(path.name + end)).is_file() and log.stat().st_size]
    logs = [log for log in there if beside(path, log.name)]
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
    """Why logs of changes are not read; empty where they can be, or there are none."""
    named = ", ".join(log.name for log in logs)
    if logs and size > min(free // 2, MAX_COPY):
        return f"{named}: too large to copy, its changes are not read"
    if any(_end(log) == _NAMES_A_FILE for log in logs):
        return f"{named}: names another file, its changes are not read"
    return ""


def _end(log: Path) -> bytes:
    with opened(log) as file:
        file.seek(max(log.stat().st_size - len(_NAMES_A_FILE), 0))
        return file.read(len(_NAMES_A_FILE))
