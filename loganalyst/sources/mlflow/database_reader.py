"""MLflow's SQLite store (`mlflow.db`, `mlruns.db`): one file with many runs, of which one is read at a time.

The file is opened read-only, and nothing is written next to it. If a writer left a log of changes, both files are
copied to a temporary folder and read there. MLflow stores NaN as 0 with a flag, and infinity as the largest float. It
writes step 0 where none was given; such rows are counted. Only plain tables are queried, never views.
Schema: https://mlflow.org/docs/latest/self-hosting/architecture/backend-store/ and its migrations.
"""

import re
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from loganalyst.model import Tables
from loganalyst.opening import opened
from loganalyst.sources.files.lineblocks import gap
from loganalyst.sources.files.severalruns import BROKEN, NoStoreError, Runs, chosen, one_line, with_faults
from loganalyst.sources.files.sqliteguard import BATCH_ROWS, MAX_SECONDS, Guarded, opened_database
from loganalyst.sources.mlflow import runtables

NAME = "mlflowdb"

MAX_SETTINGS = 20_000  # parameters or tags of one run
MAX_SETTING_BYTES = 16 << 20  # of the names and values of parameters or tags together
MAX_NAME = 1000  # bytes of a metric's name; MLflow's own limit is 250 characters
_MAGIC = b"SQLite format 3\0"
_NEEDED = {"runs": {"run_uuid"}, "metrics": {"key", "value", "timestamp", "run_uuid"}}
_FACTS = ("status", "start_time", "end_time", "name", *runtables.FACTS)
_ID = re.compile(r"[A-Za-z0-9][\w-]{0,255}", re.ASCII)  # the ids that MLflow accepts, such as 7d0c5e8f1c2b4a6f
_NAMED = re.compile(r"(?:mlflow|mlruns).*\.(?:db|sqlite3?)$", re.IGNORECASE)  # mlflow.db, my-mlruns.sqlite


def sniff(path: Path, head: bytes) -> float:  # noqa: ARG001 -- readers share one signature
    """How sure it is that the file is for this reader: any SQLite database, as this reader can report its faults."""
    return 0.9 if head.startswith(_MAGIC) else 0.0


def named(path: Path) -> bool:
    """Whether the file is named like a store of MLflow. Such a file is reported if it cannot be read."""
    return bool(_NAMED.search(path.name))


def runs(path: Path, seconds: float = MAX_SECONDS) -> Runs:
    """The runs in the file, oldest first, without the runs deleted in MLflow; no runs if it is not a store.

    `why` is set if the file is damaged, takes longer than `seconds`, or is only named like a store.
    """
    try:
        with _store(path, seconds) as store:
            return Runs(tuple(store.ids()), store.broken())
    except NoStoreError as error:
        return Runs((), str(error) if named(path) else "")
    except (*BROKEN, OSError) as error:
        return Runs((), one_line(error) if named(path) or _speaks_of_runs(path) else "")


def _speaks_of_runs(path: Path) -> bool:
    """Whether a damaged database was a store of MLflow, by the table definitions in its first page."""
    try:
        with opened(path) as file:
            return b"run_uuid" in file.read(1 << 16)
    except OSError:
        return False


def read(path: Path, run: str = "", batch: int = BATCH_ROWS) -> Iterator[Tables]:
    """Session, settings and points of the run whose id begins with `run`; empty: the only run in the file.

    Metric rows are fetched `batch` at a time. Faults become gaps, after everything that could be read. Raises OSError.
    """
    yield from with_faults(path, _tables(path, run, batch))


def _tables(path: Path, run: str, batch: int) -> Iterator[Tables]:
    with _store(path) as store:
        named_run = store.chosen(run)
        for why in filter(None, (*store.left_out(), "" if run else store.deleted())):
            yield Tables(gaps=gap(path, why))
        yield from store.run(named_run, batch)


@contextmanager
def _store(path: Path, seconds: float = MAX_SECONDS) -> Iterator["_Store"]:
    """Open a store. Raises sqlite3.Error, DamageError, NoStoreError, OSError."""
    with opened_database(path, seconds) as database:
        yield _Store(path, database)


class _Store:
    """A store of MLflow, open for reading."""

    def __init__(self, path: Path, database: Guarded) -> None:
        self.path, self.database = path, database
        self.columns = database.tables(("runs", "metrics", "params", "tags"))
        if missing := [name for name, needed in _NEEDED.items() if not needed <= self.columns.get(name, set())]:
            raise NoStoreError(f"a SQLite database, but not a store of MLflow (no usable table {missing[0]!r})")
        self._runs: dict[str, bool] = {}  # run id -> whether it was deleted; oldest first
        self._why = ""
        self._list()

    def _list(self) -> None:
        """Query the runs. Runs listed before damage is met are kept."""
        columns, rows = self.columns["runs"], list[tuple[Any, ...]]()
        stage = "lifecycle_stage" if "lifecycle_stage" in columns else "NULL"
        start = "CASE WHEN typeof(start_time) IN ('integer', 'real') THEN start_time END"
        query = f"SELECT substr(run_uuid, 1, 300), {stage} IS 'deleted', {start if 'start_time' in columns else 'NULL'}"
        try:
            for batch in self.database.batches(f"{query} FROM runs"):
                rows += batch
        except (sqlite3.Error, UnicodeDecodeError) as error:
            self._why = one_line(error)
        known = [row for row in rows if isinstance(row[0], str) and _ID.fullmatch(row[0])]
        known.sort(key=lambda row: (row[2] is not None, row[2] or 0, row[0]))
        self._runs = {id_: bool(deleted) for id_, deleted, _ in known}
        if not self._why and len(self._runs) < len(rows):
            self._why = f"runs: {len(rows) - len(self._runs):,} rows have no id, or a duplicate one"

    def broken(self) -> str:
        """Why runs may be missing from the list (empty: none is)."""
        return self._why

    def left_out(self) -> Iterator[str]:
        """The parts of the file that are not read."""
        yield from filter(None, (self.database.left_out, self._why))
        for table in self.columns:
            if names := self.database.computed(table):
                yield f"{table}: {', '.join(names[:3])}: computed columns are not read"

    def ids(self, *, deleted: bool = False) -> list[str]:
        """The runs, or the runs deleted in MLflow; oldest first."""
        return [id_ for id_, gone in self._runs.items() if gone is deleted]

    def chosen(self, named: str) -> str:
        """The one run whose id begins with `named`. A deleted run must be named."""
        return chosen(named, self.ids(), self.path.name, self.ids(deleted=True))

    def deleted(self) -> str:
        """The gap for runs deleted in MLflow (empty: there are none)."""
        count = len(self.ids(deleted=True))
        return f"{count} runs that were deleted in MLflow are left out" if count else ""

    def run(self, run: str, batch: int) -> Iterator[Tables]:
        """Everything stored about one run. Damage costs only the table it is in. Raises the errors of `_store`."""
        lost = list[str]()
        row = self._facts(run, lost)
        params, tags = (self._settings(table, run, lost) for table in ("params", "tags"))
        name = self.path.name
        known = runtables.facts(name, {**row, "run_name": row.get("name")})
        config = pl.concat([runtables.config(name, params, tags), known])
        yield Tables(sessions=runtables.session(name, row), config=config)
        yield from (Tables(gaps=gap(self.path, why)) for why in lost)
        yield from self._metrics(run, batch)

    def _facts(self, run: str, lost: list[str]) -> Mapping[str, Any]:
        """The row of the run. If it cannot be read, the reason is added to `lost`."""
        names = [name for name in _FACTS if name in self.columns["runs"]]
        query = f"SELECT {', '.join(['run_uuid', *names])} FROM runs WHERE run_uuid = ? LIMIT 1"
        try:
            found = self.database.rows(query, [run])
        except (sqlite3.Error, UnicodeDecodeError) as error:
            lost.append(f"runs: {one_line(error)}")
            return {}
        return dict(zip(names, found[0][1:], strict=True)) if found else {}  # a broken index finds none

    def _settings(self, table: str, run: str, lost: list[str]) -> list[tuple[str, str]]:
        """The run's parameters or tags. If some are left out, the reason is added to `lost`."""
        if not {"key", "value", "run_uuid"} <= self.columns.get(table, set()):
            return []
        query = f"SELECT key, value FROM {table} WHERE run_uuid = ? ORDER BY rowid LIMIT {MAX_SETTINGS}"
        found, size = list[tuple[str, str]](), 0
        try:
            for key, value in (row for batch in self.database.batches(query, [run]) for row in batch):
                found.append((str(key), str(value)))
                size += len(found[-1][0]) + len(found[-1][1])
                if size > MAX_SETTING_BYTES:
                    lost.append(f"{table}: more than {MAX_SETTING_BYTES >> 20} MiB; the rest is not read")
                    break
        except (sqlite3.Error, UnicodeDecodeError) as error:
            lost.append(f"{table}: {one_line(error)}")
        if len(found) == MAX_SETTINGS:
            lost.append(f"{table}: more than {MAX_SETTINGS:,}; the rest is not read")
        return found

    def _metrics(self, run: str, batch: int) -> Iterator[Tables]:
        """The points in batches, in the order they were written, and a gap for unusable rows."""
        columns, ask = self.columns["metrics"], self.database
        step, mark = ("step" if "step" in columns else "0"), ("is_nan" if "is_nan" in columns else "0")
        integers = f"typeof(timestamp) = 'integer' AND typeof({step}) = 'integer'"
        named = f"typeof(key) = 'text' AND length(key) <= {MAX_NAME}"
        usable = f"{named} AND typeof(value) IN ('real', 'integer') AND {integers}"
        stepped = f"SELECT DISTINCT key FROM metrics WHERE run_uuid = ? AND {step} <> 0 AND {named}"
        of_run = "FROM metrics WHERE run_uuid = ?"
        ((stored, size),) = ask.rows(f"SELECT count(*), total(length(CAST(key AS BLOB))) {of_run}", [run])
        ask.check(stored, size)
        steps = _Steps({str(row[0]) for row in ask.rows(stepped, [run])})
        query = f"SELECT key, value, timestamp, {step}, {mark} {of_run} AND {usable} ORDER BY rowid"
        ask.connection.text_factory = bytes  # each name is decoded once, not once per row
        read = 0
        for rows in ask.batches(query, [run], batch):
            read += len(rows)
            yield Tables(points=runtables.points(steps.counted(_frame(rows)), self.path.name))
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
    """Metric rows as metric, value, ms, step and line."""
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
