"""Trackio's SQLite store, `~/.cache/huggingface/trackio/<project>.db`: one project with many runs, one of them read.

A row of `metrics` is one call of `log`: run, step, time, and a JSON object of values, in which NaN and infinity are
texts. `system_metrics` have no step; their names get the prefix `system/`. A run is named `FILE#NAME`, or by its id
where several runs have that name, or the name does not fit a path. The file is opened as MLflow's: read-only, guarded.
Sources: trackio 0.12 (without ids of runs) and 0.43, `sqlite_storage.py`.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from loganalyst.model import Tables, table
from loganalyst.opening import opened
from loganalyst.sources.config.secrets import masked
from loganalyst.sources.files.flatten import config_of
from loganalyst.sources.files.lineblocks import gap
from loganalyst.sources.files.severalruns import BROKEN, NoStoreError, Runs, chosen, one_line, with_faults
from loganalyst.sources.files.sqliteguard import MAX_SECONDS, Guarded, opened_database
from loganalyst.sources.tables import stepcolumns
from loganalyst.sources.tables.jsonrows import Log
from loganalyst.sources.tables.jsonshape import parse_json

NAME = "trackio"

BATCH_ROWS = 1 << 13  # of a fetch: a row holds a whole JSON object
_MAGIC = b"SQLite format 3\0"
_DEFINED = (b"run_name TEXT", b"metrics TEXT")  # in the definition of its tables
_DEFINITIONS = 4 << 20  # bytes in which the definitions lie: a new version adds some behind the first rows
_NEEDED = {"metrics": {"run_name", "step", "metrics"}}
_NAME = re.compile(r"\w[\w.-]{0,199}")  # a run's name that can be part of an address: `dainty-sunset-0`


def sniff(path: Path, head: bytes) -> float:
    """How surely it is one of these: a SQLite database (or the log of its changes) that defines Trackio's tables."""
    return 0.95 if head.startswith(_MAGIC) and (_defined(path) or _defined(_changes(path))) else 0.0


def _changes(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _defined(path: Path) -> bool:
    try:
        with opened(path) as file:
            content = file.read(_DEFINITIONS)
    except OSError:
        return False
    return all(words in content for words in _DEFINED)


def named(path: Path) -> bool:  # noqa: ARG001 -- readers share one signature
    """Whether the file is named like such a store: never, a project has any name."""
    return False


def runs(path: Path, seconds: float = MAX_SECONDS) -> Runs:
    """The runs in the file, oldest first. `why` is set if some may be missing, such as in a damaged file."""
    try:
        with _store(path, seconds) as store:
            return Runs(tuple(store.runs))
    except (*BROKEN, NoStoreError, OSError) as error:
        return Runs((), str(error) if isinstance(error, NoStoreError) else one_line(error))


def read(path: Path, run: str = "", batch: int = BATCH_ROWS) -> Iterator[Tables]:
    """Session, settings and points of the run whose name (or id) begins with `run`; empty: the only run in the file.

    Rows are fetched `batch` at a time. Faults become gaps, after everything that could be read. Raises OSError.
    """
    yield from with_faults(path, _tables(path, run, batch))


def _tables(path: Path, run: str, batch: int) -> Iterator[Tables]:
    with _store(path) as store:
        if left_out := store.database.left_out:
            yield Tables(gaps=gap(path, left_out))
        yield from store.run(store.runs[chosen(run, [*store.runs], path.name)], batch)


@contextmanager
def _store(path: Path, seconds: float = MAX_SECONDS) -> Iterator["_Store"]:
    """Open a store. Raises sqlite3.Error, DamageError, NoStoreError, OSError."""
    with opened_database(path, seconds) as database:
        yield _Store(path, database)


class _Store:
    """A store of Trackio, open for reading. `runs`: the address of each run, and its key in `key_column`."""

    def __init__(self, path: Path, database: Guarded) -> None:
        self.path, self.database = path, database
        self.columns = database.tables(("metrics", "system_metrics", "configs"))
        if missing := [name for name, needed in _NEEDED.items() if not needed <= self.columns.get(name, set())]:
            raise NoStoreError(f"a SQLite database, but not a store of Trackio (no usable table {missing[0]!r})")
        self.key_column = "run_id" if "run_id" in self.columns["metrics"] else "run_name"  # before 0.24 no ids
        found = database.rows(
            f"SELECT {self.key_column}, max(substr(run_name, 1, 300)) FROM metrics GROUP BY 1 ORDER BY min(rowid)"
        )
        names = [name for _, name in found]
        self.runs = {
            name if names.count(name) == 1 and isinstance(name, str) and _NAME.fullmatch(name) else str(key): key
            for key, name in found
        }

    def run(self, key: object, batch: int) -> Iterator[Tables]:
        """Everything stored about one run. Damage costs only the table it is in."""
        for rows in (self._settings(key), self._points("metrics", key, batch), self._system(key, batch)):
            try:
                yield from rows
            except BROKEN as error:
                yield Tables(gaps=gap(self.path, one_line(error), 0, self.path.stat().st_size))

    def _settings(self, key: object) -> Iterator[Tables]:
        """The run's config without Trackio's own keys, and its session."""
        settings: dict[str, Any] = {}
        if {"config", self.key_column} <= self.columns.get("configs", set()):
            found = self.database.rows(f"SELECT config FROM configs WHERE {self.key_column} = ? LIMIT 1", [key])
            settings = (_object(found[0][0]) if found else None) or {}
        tables = config_of({name: value for name, value in settings.items() if not name.startswith("_")}, self.path)
        created = settings.get("_Created")
        started = stepcolumns.times(pl.Series([created if isinstance(created, str) else None], dtype=pl.String))
        facts = {"session": [0], "source": self.path.name, "started": started, "status": "unknown"}
        yield Tables(config=masked(tables.config), gaps=tables.gaps, sessions=table("sessions", facts))

    def _system(self, key: object, batch: int) -> Iterator[Tables]:
        """The points of system metrics, which have times only."""
        for tables in self._points("system_metrics", key, batch):
            name = pl.concat_str(pl.lit("system/"), "metric")
            yield replace(tables, points=tables.points.with_columns(metric=name, step=pl.lit(None, pl.Int64)))

    def _points(self, table: str, key: object, batch: int) -> Iterator[Tables]:
        """The points of the run's rows in the order they were written, and a gap for rows that are no JSON objects."""
        columns, log, lost = self.columns.get(table, set()), Log(self.path), 0
        if not {"metrics", self.key_column} <= columns:
            return
        axes = [name for name in ("step", "timestamp") if name in columns]
        query = f"SELECT {', '.join(['metrics', *axes])} FROM {table} WHERE {self.key_column} = ? ORDER BY rowid"
        for rows in self.database.batches(query, [key], batch):
            found = [(_object(row[0]), row[1:]) for row in rows]
            lost += sum(metrics is None for metrics, _ in found)
            yield from log.records([m | dict(zip(axes, place, strict=True)) for m, place in found if m is not None])
        why = [gap(self.path, f"{table}: {lost:,} rows are not JSON objects")] if lost else []
        yield Tables(gaps=pl.concat([log.gap_rows().gaps, *why]))


def _object(value: str | bytes) -> dict[str, Any] | None:
    """The JSON object in a cell; None where it is none."""
    data = parse_json(value) if isinstance(value, str | bytes) else None
    return data if isinstance(data, dict) else None
