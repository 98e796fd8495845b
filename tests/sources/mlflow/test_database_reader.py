"""MLflow's SQLite store: one run of the file, value for value; whatever is wrong with the file is a gap."""

import math
import random
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loganalyst.errors import SourceError
from loganalyst.model import Tables
from loganalyst.sources.discovery import runs as discover
from loganalyst.sources.ingest import ingest
from loganalyst.sources.mlflow import database_reader

SCHEMA = """
CREATE TABLE experiments (experiment_id INTEGER PRIMARY KEY, name VARCHAR(256) NOT NULL);
CREATE TABLE runs (run_uuid VARCHAR(32) PRIMARY KEY, name VARCHAR(250), source_name VARCHAR(500), user_id VARCHAR(256),
  status VARCHAR(9), start_time BIGINT, end_time BIGINT, lifecycle_stage VARCHAR(20), experiment_id INTEGER);
CREATE TABLE metrics (key VARCHAR(250) NOT NULL, value FLOAT NOT NULL, timestamp BIGINT NOT NULL,
  run_uuid VARCHAR(32) NOT NULL, step BIGINT DEFAULT '0' NOT NULL, is_nan BOOLEAN DEFAULT '0' NOT NULL,
  PRIMARY KEY (key, timestamp, step, run_uuid, value, is_nan));
CREATE INDEX index_metrics_run_uuid ON metrics (run_uuid);
CREATE TABLE params (key VARCHAR(250), value VARCHAR(8000), run_uuid VARCHAR(32), PRIMARY KEY (key, run_uuid));
CREATE TABLE tags (key VARCHAR(250), value VARCHAR(8000), run_uuid VARCHAR(32), PRIMARY KEY (key, run_uuid));
"""
RUN = "('{id}', 'name {id}', '', 'me', 'FAILED', 1700000000000, 1700000060000, '{stage}', 1)"
LARGEST = sys.float_info.max


def store(path: Path, *statements: str, runs: tuple[str, ...] = ("aa11",), stage: str = "active") -> Path:
    """A store with runs and what `statements` do to it."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript(f"PRAGMA synchronous=OFF; {SCHEMA}")
        for run in runs:
            db.execute(f"INSERT INTO runs VALUES {RUN.format(id=run, stage=stage)}")
        for statement in statements:
            db.execute(statement)
        db.commit()
    return path


def metrics(*rows: tuple[object, ...], run: str = "aa11") -> str:
    """The statement that stores (key, value, timestamp, step, is_nan) rows."""
    values = ", ".join(f"({k!r}, {v!r}, {t}, {run!r}, {s}, {n})" for k, v, t, s, n in rows)
    return f"INSERT INTO metrics VALUES {values}"


def read(path: Path, run: str = "") -> Tables:
    return Tables.concat(database_reader.read(path, run))


def why(path: Path, run: str = "") -> str:
    """The one gap of a file that gives nothing else."""
    found = read(path, run)
    assert found.points.height == found.config.height == 0
    return found.gaps["why"].item()


def test_a_file_of_one_run_is_that_run(tmp_path):
    """Metrics in the order they were written, with NaN and infinity restored; parameters, tags and how it ended."""
    path = store(
        tmp_path / "mlflow.db",
        metrics(
            ("loss", 1.5, 1700000000000, 0, 0), ("loss", 0.0, 1700000001000, 5, 1), ("acc", 0.5, 1700000001000, 5, 0)
        ),
        metrics(("loss", LARGEST, 1700000002000, 10, 0), ("loss", -LARGEST, 1700000003000, 15, 0)),
        "INSERT INTO params VALUES ('optim/lr', '0.001', 'aa11')",
        "INSERT INTO tags VALUES ('mlflow.source.name', 'train.py', 'aa11'), ('mlflow.user', 'me', 'aa11')",
    )
    found = read(path)

    assert database_reader.sniff(path, path.read_bytes()[:100]) == 0.9
    assert str(found.points.select("metric", "step", "value").rows()) == (
        "[('loss', 0, 1.5), ('loss', 5, nan), ('acc', 5, 0.5), ('loss', 10, inf), ('loss', 15, -inf)]"
    )
    assert [time.timestamp() for time in found.points["time"]] == [1.7e9, 1.7e9 + 1, 1.7e9 + 1, 1.7e9 + 2, 1.7e9 + 3]
    assert found.config.select("key", "value").rows() == [
        ("optim.lr", "0.001"),
        ("mlflow.source.name", "train.py"),
        ("mlflow.run_name", "name aa11"),
        ("mlflow.experiment_id", "1"),
        ("mlflow.lifecycle_stage", "active"),
    ]
    assert found.sessions["status"].to_list() == ["failed"]
    assert found.gaps.height == 0


def test_steps_that_nobody_gave_are_counted(tmp_path):
    """A metric with MLflow's default 0 in all rows is counted across batches, beside one with steps."""
    rows = [row for i in range(5) for row in (("zero", 1.0, i, 0, 0), ("given", 1.0, i, i * 7, 0))]
    path = store(tmp_path / "m.db", metrics(*rows))
    found = Tables.concat(database_reader.read(path, batch=3)).points

    assert found.filter(metric="zero")["step"].to_list() == [0, 1, 2, 3, 4]
    assert found.filter(metric="given")["step"].to_list() == [0, 7, 14, 21, 28]


def test_one_of_several_runs(tmp_path):
    """Runs are listed oldest first; one is read by its id or the beginning of it, else they are named."""
    path = store(
        tmp_path / "m.db",
        metrics(("x", 1.0, 1, 1, 0)),
        metrics(("x", 2.0, 1, 1, 0), run="ab22"),
        runs=("aa11", "ab22"),
    )

    assert database_reader.runs(path).ids == ("aa11", "ab22")
    assert [read(path, run).points["value"].to_list() for run in ("aa11", "ab")] == [[1.0], [2.0]]
    assert why(path) == "holds 2 runs; name one of them as m.db#RUN: aa11, ab22"
    assert why(path, "a") == "holds 2 runs that begin with 'a'; name one of them as m.db#RUN: aa11, ab22"
    assert why(path, "aa12") == "holds no run 'aa12'; did you mean 'aa11'?"


def test_deleted_runs_are_left_out_unless_named(tmp_path):
    """What was deleted in MLflow is no run, and is told; who names it gets it."""
    path = store(tmp_path / "m.db", f"INSERT INTO runs VALUES {RUN.format(id='dd', stage='deleted')}")

    assert database_reader.runs(path).ids == ("aa11",)
    assert read(path).gaps["why"].to_list() == ["1 runs that were deleted in MLflow are left out"]
    assert read(path, "dd").sessions.height == 1
    assert why(store(tmp_path / "none.db", stage="deleted")) == "holds no run that is not deleted"


def test_an_old_schema(tmp_path):
    """Stores from before steps, marks for NaN, life cycles and tags."""
    path = tmp_path / "old.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE runs (run_uuid TEXT)")
        db.execute("CREATE TABLE metrics (key TEXT, value FLOAT, timestamp BIGINT, run_uuid TEXT)")
        db.execute("INSERT INTO runs VALUES ('a')")
        db.execute("INSERT INTO metrics VALUES ('loss', 3.0, 1700000000000, 'a'), ('loss', 2.0, 1700000001000, 'a')")
        db.commit()
    found = read(path)

    assert found.points.select("step", "value").rows() == [(0, 3.0), (1, 2.0)]
    assert found.sessions["started"].to_list() == [None]


def test_changes_that_are_not_in_the_file_yet(tmp_path):
    """A writer's log beside the file is read too; nothing is written there, and the file may be locked."""
    path = store(tmp_path / "m.db")
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute(metrics(("x", 1.0, 1, 1, 0)))
        writer.commit()
        writer.execute("BEGIN EXCLUSIVE")
        before = {f.name: (f.stat().st_size, f.stat().st_mtime_ns) for f in tmp_path.iterdir()}

        assert "m.db-wal" in before
        assert read(path).points["value"].to_list() == [1.0]
        assert {f.name: (f.stat().st_size, f.stat().st_mtime_ns) for f in tmp_path.iterdir()} == before


def test_a_log_of_changes_that_is_too_large_is_told(tmp_path, monkeypatch):
    """Without room for a copy the file is read as it stands."""
    path = store(tmp_path / "m.db", metrics(("x", 1.0, 1, 1, 0)))
    (tmp_path / "m.db-wal").write_bytes(b"x")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
    found = read(path)

    assert found.points.height == 1
    assert found.gaps["why"].to_list() == ["m.db-wal: too large to copy, its changes are not read"]


def test_rows_that_are_no_points(tmp_path):
    """Texts for numbers and blobs for names are counted; the rows beside them are read."""
    odd = (
        "INSERT INTO metrics VALUES ('x', 'high', 1, 'aa11', 1, 0), "
        "(x'00ff', 1.0, 1, 'aa11', 1, 0), ('x', 1.0, 'now', 'aa11', 1, 0)"
    )
    found = read(store(tmp_path / "m.db", odd, metrics(("x", 7.0, 1, 1, 0))))

    assert found.points["value"].to_list() == [7.0]
    assert found.gaps["why"].to_list() == ["metrics: 3 rows without a name, a number, a time or a step"]


def test_databases_that_are_no_store(tmp_path):
    """Another program's database, an empty one, and a store whose tables are views that count for ever."""
    with closing(sqlite3.connect(tmp_path / "other.db")) as db:
        db.execute("CREATE TABLE runs (id INTEGER)")
        db.commit()
    with closing(sqlite3.connect(tmp_path / "views.db")) as db:
        db.execute("CREATE TABLE metrics (key, value, timestamp, run_uuid)")
        db.execute(
            "CREATE VIEW runs AS WITH RECURSIVE n(run_uuid) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT * FROM n"
        )
        db.commit()
    (tmp_path / "head.db").write_bytes(b"SQLite format 3\0")

    assert why(tmp_path / "other.db") == "a SQLite database, but not a store of MLflow (no usable table 'runs')"
    assert "no usable table 'runs'" in why(tmp_path / "views.db")
    assert "SQLite: " in why(tmp_path / "head.db")
    assert [database_reader.runs(f).ids for f in sorted(tmp_path.glob("*.db"))] == [(), (), ()]
    assert database_reader.sniff(tmp_path / "x.db", b"not SQLite") == 0.0


@pytest.mark.parametrize("seed", range(40))
def test_damage_is_a_gap_and_no_value_is_made_up(tmp_path, seed):
    """Flipped bytes, zeroed pages and cuts raise nothing and do not hang."""
    rows = [(f"m{k}", float(i), 1700000000000 + i, i, 0) for i in range(300) for k in range(3)]
    path = store(tmp_path / "m.db", metrics(*rows))
    data, chance = bytearray(path.read_bytes()), random.Random(seed)
    for _ in range(chance.choice((1, 1, 5, 50))):
        at = chance.randrange(16, len(data))
        data[at : at + 1] = bytes([chance.randrange(256)])
    if chance.random() < 0.3:
        page = 4096 * chance.randrange(1, len(data) // 4096)
        data[page : page + 4096] = bytes(4096)
    if chance.random() < 0.3:
        del data[chance.randrange(100, len(data)) :]
    path.write_bytes(data)
    found = read(path)

    assert found.points.height <= len(rows) or found.gaps.height
    assert database_reader.runs(path) is not None


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8),
            st.floats().map(lambda v: v + 0.0),  # SQLite keeps no -0.0
            st.integers(0, 2 * 10**12),
            st.integers(-(2**63), 2**63 - 1),
        ),
        max_size=20,
    )
)
def test_every_value_comes_back(tmp_path_factory, rows):
    """Stored as MLflow stores it and read again: the same names, steps and floats, in the same order."""
    path = store(tmp_path_factory.mktemp("db") / "m.db")
    clamp = [
        (n, 0.0 if math.isnan(v) else max(min(v, LARGEST), -LARGEST), t, "aa11", s, math.isnan(v))
        for n, v, t, s in rows
    ]
    unique = list(dict.fromkeys(clamp))
    with closing(sqlite3.connect(path)) as db:
        db.executemany("INSERT OR IGNORE INTO metrics VALUES (?, ?, ?, ?, ?, ?)", clamp)
        db.commit()
    found = read(path).points
    stepped = {name for name, *_, step, _ in unique if step}
    expected = [
        (n, math.nan if nan else math.copysign(math.inf, v) if abs(v) == LARGEST else v, s)
        for n, v, _, _, s, nan in unique
        if n in stepped
    ]

    assert found.height == len(unique)
    assert repr(found.filter(found["metric"].is_in(list(stepped))).select("metric", "value", "step").rows()) == repr(
        expected
    )


def test_a_store_among_the_runs_of_a_folder(tmp_path):
    """Each run of the file is one of the folder's; it is named by its id or the beginning of it."""
    path = store(tmp_path / "mlflow.db", metrics(("x", 1.0, 1, 1, 0)), runs=("aa11", "ab22"))
    one, same = ingest(tmp_path / "mlflow.db#aa11"), ingest(tmp_path / "mlflow.db#aa")

    assert [found.root.name for found in discover.runs(tmp_path)] == ["mlflow.db#aa11", "mlflow.db#ab22"]
    assert [found.root.name for found in discover.runs(path)] == ["mlflow.db#aa11", "mlflow.db#ab22"]
    assert (one.id, one.points.height, one.status) == (same.id, 1, "failed")
    assert [source.path for source in one.sources] == ["mlflow.db#aa11"]
    with pytest.raises(SourceError, match=r"holds 2 runs; name one of them: mlflow\.db#aa11, mlflow\.db#ab22"):
        ingest(path)
    with pytest.raises(SourceError, match=r"holds no run 'zz'; it holds aa11, ab22"):
        ingest(tmp_path / "mlflow.db#zz")
