"""MLflow: the file of one metric in its file store, and a run in its SQLite store."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

from formats.case import METRICS, Case, Columns, Take, grow_lines, values

BEGIN = 1_700_000_000_000  # ms
TABLES = """
CREATE TABLE runs (run_uuid TEXT PRIMARY KEY, name TEXT, status TEXT, start_time BIGINT, end_time BIGINT, lifecycle_stage TEXT);
CREATE TABLE metrics (key VARCHAR(250), value FLOAT, timestamp BIGINT, run_uuid VARCHAR(32), step BIGINT, is_nan BOOLEAN,
  PRIMARY KEY (key, timestamp, step, run_uuid, value, is_nan));
CREATE INDEX index_metrics_run_uuid ON metrics (run_uuid);
INSERT INTO runs VALUES ('aa', 'bench', 'FINISHED', 1700000000000, NULL, 'active');
"""  # noqa: E501


def write(folder: Path, rows: int, metrics: int) -> Path:
    """One metric with as many lines as there are values: each metric is a file of its own."""
    run = folder / "mlruns" / "0" / "aa"
    path = run / "metrics" / METRICS[0]
    path.parent.mkdir(parents=True)
    (run / "meta.yaml").write_text("run_id: aa\n")
    with path.open("w") as file:
        for step in range(rows * metrics):
            print(BEGIN + 37 * step, values(step, 1)[METRICS[0]], step, file=file)
    return path


def line_by_line() -> Take:
    """As MLflow reads its own file."""

    def take(path: Path) -> Callable[[], Columns]:
        rows = [(int(ms), float(value), int(step)) for ms, value, step in (line.split(" ") for line in path.open())]
        return lambda: ([METRICS[0]] * len(rows), [row[2] for row in rows], [row[1] for row in rows])

    return take


def write_db(folder: Path, rows: int, metrics: int) -> Path:
    path = folder / "mlflow.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(TABLES)
        for step in range(rows):
            logged = ((n, v, BEGIN + 37 * step, "aa", step, 0) for n, v in values(step, metrics).items())
            db.executemany("INSERT INTO metrics VALUES (?, ?, ?, ?, ?, ?)", logged)
        db.commit()
    return path


def all_rows() -> Take:
    """The run's rows as Python's sqlite3 gives them, without NaN, infinity or a table made of them."""

    def take(path: Path) -> Callable[[], Columns]:
        with closing(sqlite3.connect(path)) as db:
            rows = db.execute(
                "SELECT key, step, value, timestamp, is_nan FROM metrics WHERE run_uuid = 'aa'"
            ).fetchall()
        return lambda: tuple(zip(*(row[:3] for row in rows), strict=True))

    return take


CASES = (
    Case("mlflow files", write, (line_by_line,), (200_000, 5), grow=partial(grow_lines)),
    Case("mlflow sqlite", write_db, (all_rows,), (200_000, 5)),
)
