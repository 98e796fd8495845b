"""MLflow's SQLite store (`mlflow.db`, `mlruns.db`): a file of many runs, one of which is read at a time.

Nothing is written beside the file: it is opened as it stands. Where a writer left a log of changes beside it, both are
copied to a temporary folder and read there. MLflow stores NaN as 0 with a mark and infinity as the largest float; where
nobody gave a step it writes 0: then the rows are counted. Only plain tables are asked, never a view.
Schema: https://mlflow.org/docs/latest/self-hosting/architecture/backend-store/ and its migrations.
"""

import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl

from loganalyst.errors import nearest
from loganalyst.model import Tables
from loganalyst.opening import LEADS_OUT, beside, checked, opened
from loganalyst.sources import mlflowtables
from loganalyst.sources.address import LOGS
from loganalyst.sources.textblocks import gap

NAME = "mlflowdb"

BATCH = 1 << 17  # rows of a fetch: Python's tuples take 200 bytes a row
MOST_SETTINGS = 20_000  # parameters or tags of one run
_MAGIC = b"SQLite format 3\0"
_NEEDED = {"runs": {"run_uuid"}, "metrics": {"key", "value", "timestamp", "run_uuid"}}
_LONGEST_CELL = 16 << 20  # bytes; MLflow's own limit is 8,000 characters
_BROKEN = (sqlite3.Error, UnicodeDecodeError)  # the latter where a message quotes the damage


class _NoStoreError(Exception):
    """The file is no store of MLflow's, or not of the one run that is asked for."""


def sniff(path: Path, head: bytes) -> float:  # noqa: ARG001 -- readers share one signature
    """How surely the file is this reader's: any SQLite database is, for it can tell what is wrong with it."""
    return 0.9 if head.startswith(_MAGIC) else 0.0


def runs(path: Path) -> tuple[str, ...]:
    """The runs in the file by id, oldest first, without those deleted in MLflow; none where it is no store."""
    try:
        with _store(path) as store:
            return tuple(store.ids())
    except (*_BROKEN, _NoStoreError, OSError):
        return ()


def read(path: Path, run: str = "") -> Iterator[Tables]:
    """Session, settings and points of the run whose id begins with `run`; of the only run where none is named.

    Whatever is wrong is a gap, after all that could be read. Raises OSError.
    """
    try:
        with _store(path) as store:
            chosen = store.chosen(run)
            for why in filter(None, (store.left_out, "" if run else store.deleted())):
                yield Tables(gaps=gap(path, why))
            yield from store.run(chosen)
    except _NoStoreError as error:
        yield Tables(gaps=gap(path, str(error), 0, path.stat().st_size))
    except _BROKEN as error:
        yield Tables(gaps=gap(path, f"SQLite: {error}"[:300], 0, path.stat().st_size))


@contextmanager
def _store(path: Path) -> Iterator["_Store"]:
    """The opened store. Raises sqlite3.Error, _NoStoreError, OSError."""
    there = [log for end in LOGS if (log := path.with_name(path.name + end)).is_file() and log.stat().st_size]
    logs = [log for log in there if beside(path, log.name)]
    outside = "".join(f"{log.name}: {LEADS_OUT}, its changes are not read" for log in there if log not in logs)
    with tempfile.TemporaryDirectory(prefix="loganalyst-") as folder:
        size = sum(file.stat().st_size for file in (path, *logs))
        copied = bool(logs) and size < shutil.disk_usage(folder).free // 2
        for file in (path, *logs) if copied else ():
            with opened(file) as changed, Path(folder, file.name).open("wb") as copy:
                shutil.copyfileobj(changed, copy)
        place = Path(folder, path.name) if copied else checked(path).absolute()
        uri = f"file:{quote(str(place))}" + ("" if copied else "?mode=ro&immutable=1")
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            unread = ", ".join(log.name for log in logs) if not copied else ""
            yield _Store(
                path, connection, f"{unread}: too large to copy, its changes are not read" if unread else outside
            )


class _Store:
    """A store of MLflow's that is open for reading."""

    def __init__(self, path: Path, connection: sqlite3.Connection, left_out: str) -> None:
        self.path, self.connection, self.left_out = path, connection, left_out
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_CELL)
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        for pragma in ("trusted_schema=OFF", "cell_size_check=ON", "query_only=ON", "cache_size=-16384"):
            connection.execute(f"PRAGMA {pragma}")
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0").fetchall()
        self.columns = {
            name: {row[1] for row in connection.execute(f"PRAGMA table_info({name})")}
            for name in ("runs", "metrics", "params", "tags")
            if (name,) in tables
        }
        if missing := [name for name, needed in _NEEDED.items() if not needed <= self.columns.get(name, set())]:
            raise _NoStoreError(f"a SQLite database, but no store of MLflow's (no usable table {missing[0]!r})")

    def ids(self, *, deleted: bool = False) -> list[str]:
        """The runs, or those that were deleted in MLflow; oldest first."""
        columns = self.columns["runs"]
        stage = "lifecycle_stage" if "lifecycle_stage" in columns else "NULL"
        order = "start_time, run_uuid" if "start_time" in columns else "run_uuid"
        query = f"SELECT run_uuid FROM runs WHERE ({stage} IS 'deleted') = ? ORDER BY {order}"
        rows = self.connection.execute(query, [deleted])
        return [row[0] for row in rows if isinstance(row[0], str) and row[0]]

    def chosen(self, named: str) -> str:
        """The one run whose id begins with `named`; a deleted one only if it is named."""
        active, deleted = self.ids(), self.ids(deleted=True) if named else []
        matches = [run for run in (*active, *deleted) if run.startswith(named)]
        if len(matches) == 1 or named in matches:
            return named if named in matches else matches[0]
        shown = ", ".join((matches or active)[:3]) + (", …" if len(matches or active) > 3 else "")
        if not matches:
            hint = nearest(named, active) or f"it holds {shown}"
            raise _NoStoreError(f"holds no run {named!r}; {hint}" if named else "holds no run that is not deleted")
        begin = f"runs that begin with {named!r}" if named else "runs"
        raise _NoStoreError(f"holds {len(matches)} {begin}; name one of them as {self.path.name}#RUN: {shown}")

    def deleted(self) -> str:
        """What is told of the runs that were deleted in MLflow (empty: none was)."""
        count = len(self.ids(deleted=True))
        return f"{count} runs that were deleted in MLflow are left out" if count else ""

    def run(self, run: str) -> Iterator[Tables]:
        """All that is stored of one run."""
        row = self._facts(run)
        name = self.path.name
        params, tags = self._settings("params", run), self._settings("tags", run)
        known = mlflowtables.facts(name, {**row, "run_name": row.get("name")})
        config = pl.concat([mlflowtables.config(name, params, tags), known])
        yield Tables(sessions=mlflowtables.session(name, row), config=config)
        for table, rows in (("params", params), ("tags", tags)):
            if len(rows) == MOST_SETTINGS:
                yield Tables(gaps=gap(self.path, f"{table}: more than {MOST_SETTINGS:,}, the rest is not read"))
        yield from self._metrics(run)

    def _facts(self, run: str) -> Mapping[str, Any]:
        cursor = self.connection.execute("SELECT * FROM runs WHERE run_uuid = ?", [run])
        names = [column[0] for column in cursor.description]
        return dict(zip(names, cursor.fetchone() or [None] * len(names), strict=True))  # a broken index finds none

    def _settings(self, table: str, run: str) -> list[tuple[str, str]]:
        if not {"key", "value", "run_uuid"} <= self.columns.get(table, set()):
            return []
        query = f"SELECT key, value FROM {table} WHERE run_uuid = ? ORDER BY rowid LIMIT {MOST_SETTINGS}"
        return [(str(key), str(value)) for key, value in self.connection.execute(query, [run])]

    def _metrics(self, run: str) -> Iterator[Tables]:
        """The points in batches, in the order they were written; the rows that are none as a gap."""
        columns = self.columns["metrics"]
        step, mark = ("step" if "step" in columns else "0"), ("is_nan" if "is_nan" in columns else "0")
        integers = f"typeof(timestamp) = 'integer' AND typeof({step}) = 'integer'"
        usable = f"typeof(key) = 'text' AND typeof(value) IN ('real', 'integer') AND {integers}"
        stepped = f"SELECT DISTINCT key FROM metrics WHERE run_uuid = ? AND {step} <> 0"
        steps = _Steps({str(row[0]) for row in self.connection.execute(stepped, [run])})
        stored = self.connection.execute("SELECT count(*) FROM metrics WHERE run_uuid = ?", [run]).fetchone()[0]
        cursor = self.connection.cursor()
        cursor.execute(
            f"SELECT key, value, timestamp, {step}, {mark} FROM metrics WHERE run_uuid = ? AND {usable} ORDER BY rowid",
            [run],
        )
        self.connection.text_factory = bytes  # names are decoded once each, not once a row
        read = 0
        while rows := cursor.fetchmany(BATCH):
            read += len(rows)
            yield Tables(points=mlflowtables.points(steps.counted(_frame(rows)), self.path.name))
        if read < stored:
            why = f"metrics: {stored - read:,} rows without a name, a number, a time or a step"
            yield Tables(gaps=gap(self.path, why))


class _Steps:
    """Counts the rows of metrics for which no step was ever given."""

    def __init__(self, stepped: set[str]) -> None:
        self.stepped = stepped
        self.before: dict[str, int] = {}

    def counted(self, rows: pl.DataFrame) -> pl.DataFrame:
        names = rows["metric"].unique().to_list()
        if self.stepped.issuperset(names):
            return rows
        nth = pl.int_range(pl.len(), dtype=pl.Int64).over("metric")
        before = pl.col("metric").replace_strict({n: self.before.get(n, 0) for n in names}, return_dtype=pl.Int64)
        given = pl.col("metric").is_in([n for n in names if n in self.stepped])
        rows = rows.with_columns(step=pl.when(given).then("step").otherwise(nth + before))
        for name, count in rows["metric"].value_counts().iter_rows():
            self.before[name] = self.before.get(name, 0) + count
        return rows


def _frame(rows: list[tuple[bytes, float, int, int, object]]) -> pl.DataFrame:
    """Rows of metrics as metric, value, ms, step and line."""
    names, values, times, steps, nans = zip(*rows, strict=True)
    name = pl.Series(names, dtype=pl.Binary)
    decoded = {raw: raw.decode("utf-8", "replace") for raw in name.unique()}
    largest = sys.float_info.max
    value = pl.col("value")
    return pl.DataFrame({
        "metric": name.replace_strict(decoded, return_dtype=pl.String),
        "value": pl.Series(values, dtype=pl.Float64),
        "ms": pl.Series(times, dtype=pl.Int64),
        "step": pl.Series(steps, dtype=pl.Int64),
        "nan": pl.Series([mark == 1 for mark in nans], dtype=pl.Boolean),
    }).with_columns(
        value=pl.when("nan").then(float("nan"))
        .when(value.abs() == largest).then(value.sign() * float("inf"))
        .otherwise(value),
        line=pl.lit(None, pl.Int64),
    )  # fmt: skip
